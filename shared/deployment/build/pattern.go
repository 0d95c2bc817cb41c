package build

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
	"devplatform/shared/deployment/glob"
	"devplatform/shared/deployment/tree"
)

// An import such as import(`./pages/${name}.js`) means all files that match a pattern. esbuild lists the files without
// asking the plugin, and its messages would show which files exist. So patterns are checked before the bundler sees the
// file.

// staticCall matches the arguments of a call whose path is not computed.
const staticCall = "^\\s*\\(\\s*(?:/\\*[^*]*\\*/\\s*)*(?:\"[^\"\\\\\\n]*\"|'[^'\\\\\\n]*'|`[^`\\\\$]*`)\\s*[,)]"

var (
	// staticUses match the code after the words import and require if it certainly does not compute a path. The word can
	// also be a part of another word, a declaration, or import.meta.
	staticUses = map[string]*regexp.Regexp{
		"import":  regexp.MustCompile(staticCall + `|^[\s\v]*(?:\.meta\b|$|[^\s\v(/.<\-\x{80}-\x{10ffff}])`),
		"require": regexp.MustCompile(staticCall + `|^[\w$]`),
	}
	// escapedLetter matches an escape that can mean a letter of the words import and require.
	escapedLetter = regexp.MustCompile(`\\u(?:00[67]|\{)`)
	// patternMessage matches the bundler's message about a pattern in a folder that does not exist.
	patternMessage = regexp.MustCompile(`^Could not resolve (?:import|require)(?:\.\w+)?\("(.*)"\)`)
)

// checkPatterns returns the error of checkPattern for the patterns of imports in a script. To see the patterns that the
// bundler sees, it lets the bundler look for them in a folder that does not exist.
func (b *bundler) checkPatterns(file string, code []byte, options api.TransformOptions) *failure.Error {
	if !mayComputePath(code) {
		return nil
	}
	// No pattern leads out of a folder that is so deep.
	depth := 64 + bytes.Count(code, []byte("..")) + strings.Count(options.Define["import.meta.env"], "..")
	run := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{
			Contents: string(code), ResolveDir: b.dir + strings.Repeat("/-", depth), Loader: options.Loader,
		},
		Bundle: true, LogLevel: api.LogLevelSilent, Define: options.Define, TsconfigRaw: options.TsconfigRaw,
		AbsWorkingDir: b.dir,
		Plugins: []api.Plugin{{Name: "patterns", Setup: func(pb api.PluginBuild) {
			pb.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				if a.Kind == api.ResolveEntryPoint {
					return noResult, nil
				}
				return external(a.Path), nil
			})
		}}},
	})
	for _, m := range run.Errors {
		if in := patternMessage.FindStringSubmatch(m.Text); in != nil {
			if err := b.checkPattern(file, in[1]); err != nil {
				return err
			}
			pattern, _ := join(path.Dir(file), in[1]) // checkPattern refuses others
			b.mu.Lock()
			b.patterns = append(b.patterns, pattern)
			b.mu.Unlock()
		}
	}
	return nil
}

// isLeftOut reports whether a file is never bundled, and an import with a computed path can mean it. Such imports leave
// out these files.
func (b *bundler) isLeftOut(file string) bool {
	if !isExcluded(file) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.patterns, func(pattern string) bool {
		return glob.Match(pattern, file)
	})
}

// mayComputePath reports whether code has an import that may compute its path. It is false only if all imports
// certainly do not.
func mayComputePath(code []byte) bool {
	for word, static := range staticUses {
		for _, rest := range bytes.Split(code, []byte(word))[1:] {
			if !static.Match(rest) {
				return true
			}
		}
	}
	return escapedLetter.Match(code)
}

// patternPrefix matches the beginning of the path of an import with a pattern, up to the first computed part, if it is
// not relative.
var patternPrefix = regexp.MustCompile("(\\bimport\\s*\\(\\s*(?:/\\*[^*]*\\*/\\s*)?`)((?:[^`$./\\s][^`$\\s]*)?/[^`$]*)\\$\\{")

// resolvePatterns replaces an alias at the beginning of a pattern, such as "@/pages/", by a relative path, because
// the bundler expands relative patterns only.
func (b *bundler) resolvePatterns(file string, code []byte) []byte {
	if tree.IsInPackage(file) {
		return code
	}
	return patternPrefix.ReplaceAllFunc(code, func(match []byte) []byte {
		m := patternPrefix.FindStringSubmatch(string(match))
		folder, ok := b.web+m[2], true
		if m[2][0] != '/' {
			folder, ok = b.aliasedFile(m[2] + "x") // a name, so that the slash before it stays
			folder = strings.TrimSuffix(folder, "x")
		}
		if !ok {
			return match
		}
		prefix := relative(path.Dir(file), folder)
		if strings.HasSuffix(folder, "/") {
			prefix += "/"
		}
		return []byte(m[1] + prefix + "${")
	})
}
