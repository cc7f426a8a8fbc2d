import astro from "eslint-plugin-astro";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  globalIgnores(["dist", ".astro", "test-results"]),
  tseslint.configs.recommended,
  ...astro.configs["flat/recommended"],
  { rules: { eqeqeq: "error", "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }] } },
);
