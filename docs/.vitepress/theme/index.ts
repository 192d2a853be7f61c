/// <reference types="vite/client" />
import DefaultTheme from "vitepress/theme-without-fonts";
import "./portico.css";

export default DefaultTheme;
