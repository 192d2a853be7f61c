/// <reference types="vite/client" />
import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import { data } from "./hero.data.ts";
import "./portico.css";

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      "home-hero-image": () => h("div", { class: "hero-code vp-doc", innerHTML: data.html }),
    }),
};
export default theme;
