import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist", "node_modules"] },
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ["**/*.ts"] })),
  {
    files: ["**/*.ts"],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: new URL(".", import.meta.url).pathname } },
    rules: {
      eqeqeq: "error",
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", 60],
      // Text from profiles must become text nodes.
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Use parts/dom.ts." },
        { property: "outerHTML", message: "Use parts/dom.ts." },
        { property: "insertAdjacentHTML", message: "Use parts/dom.ts." },
      ],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-floating-promises": ["error", {
        allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: ["test", "it", "describe"] }],
      }],
      // Indices into typed arrays and into arrays of equal length are in range.
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
);
