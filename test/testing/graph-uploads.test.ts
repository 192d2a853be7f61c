import { PorticoApp } from "portico";
import { field, Graph, mutation, schema, t, type Upload } from "portico/graphql";
import { expect } from "vitest";
import { overBoth } from "../matrix.ts";

const Page = t.input("Page", { caption: t.string, scans: t.list(t.upload) });
const describeFile = async (file: Upload): Promise<string> =>
  `${file.filename} ${file.contentType} ${await new Response(file.stream()).text()}`;

function build(): PorticoApp {
  const app = new PorticoApp({ logger: false });
  const built = schema({
    query: { hello: field(t.string)(() => "hello") },
    mutation: {
      cover: mutation(t.string, { params: { file: t.upload } })(({ file }) => describeFile(file)),
      pages: mutation(t.list(t.string), { params: { pages: t.list(Page), cover: t.upload } })(
        async ({ pages, cover }) => [
          ...(await Promise.all(
            pages.map(async ({ caption, scans }) => [caption, ...(await Promise.all(scans.map(describeFile)))].join()),
          )),
          await describeFile(cover),
        ],
      ),
    },
  });
  new Graph(built, { uploads: { enabled: true } }).mount(app);
  return app;
}

const file = (name: string): File => new File([`<${name}>`], name, { type: "image/png" });

overBoth("a file among the variables is uploaded", build, async ({ graphql }) => {
  const cover = "mutation ($file: Upload!) { cover(file: $file) }";

  expect((await graphql(cover, { file: file("a.png") })).data).toEqual({ cover: "a.png image/png <a.png>" });
  expect((await graphql(cover, { file: new Blob(["x"], { type: "text/plain" }) })).data).toEqual({
    cover: "blob text/plain x",
  });
});

overBoth("files in lists and inputs are uploaded, one that is in two places once", build, async ({ graphql }) => {
  const [one, two] = [file("1.png"), file("2.png")];

  const { data, errors } = await graphql(
    "mutation ($pages: [Page!]!, $cover: Upload!) { pages(pages: $pages, cover: $cover) }",
    {
      pages: [
        { caption: "first", scans: [one] },
        { caption: "second", scans: [two, one] },
      ],
      cover: two,
    },
  );

  expect(errors).toBe(undefined);
  expect(data).toEqual({
    pages: [
      "first,1.png image/png <1.png>",
      "second,2.png image/png <2.png>,1.png image/png <1.png>",
      "2.png image/png <2.png>",
    ],
  });
});

overBoth(
  "an upload passes the forgery check of the endpoint, as one of a page would that may send it",
  build,
  async ({ graphql }) => {
    const headers = { origin: "https://elsewhere.example" };

    const { data } = await graphql("mutation ($f: Upload!) { cover(file: $f) }", { f: file("a.png") }, { headers });

    expect(data).toEqual({ cover: "a.png image/png <a.png>" });
  },
);
