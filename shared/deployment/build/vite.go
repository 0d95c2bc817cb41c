package build

import (
	"path"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

var (
	metaGlob = regexp.MustCompile(`import\s*\.\s*meta\s*\.\s*glob`)
	metaURL  = regexp.MustCompile(
		"new\\s+URL\\s*\\(\\s*[\"'`](\\.\\.?/[^\"'`]*)[\"'`]\\s*,\\s*import\\s*\\.\\s*meta\\s*\\.\\s*url")
)

// needsVite returns the error for code that only Vite's own build understands, and its offset. Without the error, the
// code would fail in the browser. The code without comments, from esbuild, decides.
func (p *plugin) needsVite(name string, code []byte, options api.TransformOptions) (int, *failure.Error) {
	glob, url := metaGlob.FindIndex(code), metaURL.FindIndex(code)
	if glob == nil && url == nil {
		return 0, nil
	}
	options.MinifyWhitespace, options.LogLevel = true, api.LogLevelSilent
	plain := api.Transform(string(code), options).Code
	if glob != nil && metaGlob.Match(plain) {
		return glob[0], failf(failure.BuildFailed, "import.meta.glob is not supported. Write one import for each file, "+
			"such as { home: () => import(\"./home.js\") }.")
	}
	for _, m := range metaURL.FindAllSubmatch(plain, -1) {
		if file, ok := join(path.Dir(name), string(m[1])); ok && p.resolver.has(file) {
			return url[0], failf(failure.BuildFailed, "new URL(%s, import.meta.url) is not supported. Import the file "+
				"with ?url, or move it to /public and use its path. Move the scripts of workers to /public.", quote(string(m[1])))
		}
	}
	return 0, nil
}
