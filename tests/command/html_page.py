"""The contents of a page that `spanprof report --html` wrote."""
import collections
import html.parser


class Page(html.parser.HTMLParser):
    """The elements of a page and their texts, by an HTML parser."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements = collections.Counter()
        self.data, self.within = "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements[tag] += 1
        self.within = dict(attributes).get("id")

    def handle_endtag(self, tag):
        self.within = None

    def handle_data(self, text):
        if self.within == "page-data":
            self.data += text


def stacks(tree):
    paths, found = [()], collections.Counter()
    nodes = tree["nodes"]
    for node in range(1, len(nodes["parent"])):
        parent = nodes["parent"][node]
        assert parent < node
        paths.append((*paths[parent], tree["functions"]["name"][nodes["function"][node]]))
        if nodes["self"][node]:
            found[paths[node]] += nodes["self"][node]
    return found
