package npm

import (
	"slices"
	"strings"
)

// buildTools are tools that create, check or serve a site, and that no browser runs. They are never installed, because
// this service does their work. They and the packages that only they need are often most of the packages of a project.
var buildTools = strings.Fields(`cypress esbuild eslint gatsby-cli gh-pages husky jest lint-staged lovable-tagger nodemon
	npm-run-all parcel playwright react-scripts rimraf rollup serve storybook stylelint ts-jest ts-loader ts-node tsx
	turbo typescript-eslint vite vitest webpack webpack-cli webpack-dev-server`)

// buildToolPrefixes are the beginnings of the names of plugins of build tools.
var buildToolPrefixes = []string{
	"@eslint/", "@playwright/", "@storybook/", "@tailwindcss/postcss", "@tailwindcss/vite", "@typescript-eslint/",
	"@vitejs/", "@vitest/", "eslint-config-", "eslint-plugin-", "rollup-plugin-", "unplugin-",
	"vite-plugin-", "vite-tsconfig-paths",
}

// browserTools are tools that also run in browsers, for example in a page that formats code. They are installed if the
// sources import them, or if a package needs them as a dependency, but not as a peer. Builds need none of them.
var browserTools = []string{"autoprefixer", "postcss", "prettier", "sass", "tailwindcss", "typescript"}

// isBuildTool reports whether a dependency of a package is a build tool that is not installed.
func isBuildTool(e edge) bool {
	return slices.Contains(buildTools, e.name) || slices.Contains(browserTools, e.name) && e.kind.isPeer() ||
		slices.ContainsFunc(buildToolPrefixes, func(prefix string) bool { return strings.HasPrefix(e.name, prefix) })
}
