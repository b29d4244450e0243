/** A drawing of a graph as plain data, for SVG, PNG and printing. */
import { LIGHT } from "./colour.ts";
import { visibleFrames } from "./graph.ts";
import { FONT_FAMILY, FONT_PX, levelsShown, paintFrames, ROW_PX, type Scene } from "./paint.ts";

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly background: string;
  /** Colour of text outside frames. */
  readonly foreground: string;
  readonly fontFamily: string;
  readonly fontPx: number;
  readonly rectangles: readonly { x: number; y: number; width: number; height: number; fill: string }[];
  /** Texts start at x, are centred at y, and are at most `width` wide. */
  readonly texts: readonly { x: number; y: number; width: number; text: string; fill: string; link?: string }[];
}

type Parts = { -readonly [K in "rectangles" | "texts"]: Picture[K][number][] };

/** Draws all levels of the scenes, one scene below the other, regardless of scrolling. */
export function pictureOf(scenes: readonly Scene[], width: number): Picture {
  const { rectangles, texts }: Parts = { rectangles: [], texts: [] };
  let height = 0;

  for (const scene of scenes) {
    const levels = levelsShown(scene.graph, scene.zoom);
    paintFrames(scene, visibleFrames(scene.graph, scene.zoom, width, 0, levels), levels, -height, {
      rect: (x, y, widthPx, heightPx, fill) => { rectangles.push({ x, y, width: widthPx, height: heightPx, fill }); },
      text: (text, x, y, widthMax, fill) => { texts.push({ x, y, width: widthMax, text, fill }); },
    });
    height += levels * ROW_PX;
  }
  return {
    width, height, background: (scenes[0]?.theme ?? LIGHT).background, foreground: (scenes[0]?.theme ?? LIGHT).text, fontFamily: FONT_FAMILY, fontPx: FONT_PX, rectangles, texts,
  };
}

const CAPTION_X_PX = 4;
/** Width of a letter as a share of the font size; more than the average in an
 * address. */
const LETTER_SHARE = 0.62;

/** Adds caption lines above a picture. A line that is too wide is continued on the
 * next one. If `link` is not empty, the last line is a link. */
export function captioned(picture: Picture, lines: readonly string[], link: string): Picture {
  const letters = Math.max(20, Math.floor((picture.width - 2 * CAPTION_X_PX) / (picture.fontPx * LETTER_SHARE)));
  const parts = [...lines.map((text) => ({ text })), ...link === "" ? [] : [{ text: link, link }]]
    .flatMap(({ text, ...more }) => (text.match(new RegExp(`.{1,${letters}}`, "gsu")) ?? []).map((part) => ({ text: part, ...more })));
  const downPx = parts.length * ROW_PX;

  return {
    ...picture, height: picture.height + downPx,
    rectangles: picture.rectangles.map((each) => ({ ...each, y: each.y + downPx })),
    texts: [
      ...parts.map((part, row) => ({ x: CAPTION_X_PX, y: (row + 0.5) * ROW_PX, width: picture.width - 2 * CAPTION_X_PX, fill: picture.foreground, ...part })),
      ...picture.texts.map((each) => ({ ...each, y: each.y + downPx })),
    ],
  };
}

/** Escapes text for XML, which does not allow the unpaired surrogates that a cut text may end with. */
function escaped(text: string): string {
  return text.replace(/\p{Surrogate}|[\ufffe\uffff]/gu, "\ufffd")
    .replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function linked(link: string | undefined, content: string): string {
  return link === undefined ? content : `<a href="${escaped(link)}">${content}</a>`;
}

const round = (value: number): string => String(Math.round(value * 100) / 100);

export function svgOf(picture: Picture): string {
  const rectangles = picture.rectangles.map((each) =>
    `<rect x="${round(each.x)}" y="${round(each.y)}" width="${round(each.width)}" height="${round(each.height)}" fill="${each.fill}"/>`);
  // An inner svg element clips text that is wider in the viewer's fonts.
  const half = picture.fontPx;
  const texts = picture.texts.map((each) =>
    `<svg x="${round(each.x)}" y="${round(each.y - half)}" width="${round(each.width)}" height="${2 * half}">`
    + linked(each.link, `<text y="${half}" fill="${each.fill}">${escaped(each.text)}</text>`) + "</svg>");

  return `<svg xmlns="http://www.w3.org/2000/svg" width="${round(picture.width)}" height="${round(picture.height)}" `
    + `viewBox="0 0 ${round(picture.width)} ${round(picture.height)}" font-family="${escaped(picture.fontFamily)}" `
    + `font-size="${picture.fontPx}" dominant-baseline="central">`
    + `<rect width="100%" height="100%" fill="${picture.background}"/>${rectangles.join("")}${texts.join("")}</svg>\n`;
}

/** Browsers refuse larger canvases. */
const CANVAS_MAX_PX = 16_384;

/** Draws a picture enlarged by `scale`, or less if the canvas would be too large. */
export function canvasOf(picture: Picture, scale: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  const most = Math.min(scale, CANVAS_MAX_PX / picture.height, CANVAS_MAX_PX / picture.width);
  const context = canvas.getContext("2d");

  canvas.width = Math.ceil(picture.width * most);
  canvas.height = Math.ceil(picture.height * most);
  if (!context)
    throw new Error("The picture is too large for this browser.");
  context.scale(most, most);
  context.fillStyle = picture.background;
  context.fillRect(0, 0, picture.width, picture.height);
  for (const each of picture.rectangles) {
    context.fillStyle = each.fill;
    context.fillRect(each.x, each.y, each.width, each.height);
  }
  context.font = `${picture.fontPx}px ${picture.fontFamily}`;
  context.textBaseline = "middle";
  for (const each of picture.texts) {
    context.fillStyle = each.fill;
    context.fillText(each.text, each.x, each.y, each.width);
  }
  return canvas;
}
