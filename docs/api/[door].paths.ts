import { doorPages } from "../.vitepress/door-pages.ts";

const routes: { paths(): { params: { door: string; title: string }; content: string }[] } = {
  paths: () => doorPages().map(({ door, page, content }) => ({ params: { door: page, title: door }, content })),
};
export default routes;
