package build

import (
	"bytes"
	"iter"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"devplatform/shared/deployment/failure"
)

// An import such as import(`./pages/${name}.js`) means all files that match a pattern. esbuild lists the files without
// asking the plugin, and its messages would show which files exist. So patterns are checked before the bundler sees the
// file.

var (
	staticCall = regexp.MustCompile(
		"^(?:import|require)\\s*\\(\\s*(?:/\\*[^*]*\\*/\\s*)*(?:\"[^\"\\\\\\n]*\"|'[^'\\\\\\n]*'|`[^`\\\\$]*`)\\s*[,)]")
	// escaped matches a letter of a keyword that is written as an escape.
	escaped = regexp.MustCompile(`^\\u(?:00[67]|\{)`)
	// patternMessage matches the bundler's message about a pattern in a folder that does not exist.
	patternMessage = regexp.MustCompile(`^Could not resolve (?:import|require)(?:\.\w+)?\("(.*)"\)`)
)

// checkPatterns returns an error if the pattern of an import leaves the folder of its importer. To see the patterns
// that the bundler sees, it lets the bundler look for them in a folder that does not exist.
func (b *bundler) checkPatterns(file string, code []byte, options api.TransformOptions) *failure.Error {
	if !mayComputePath(code) {
		return nil
	}
	depth := 64 + bytes.Count(code, []byte("..")) + strings.Count(options.Define["import.meta.env"], "..")
	run := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{
			Contents: string(code), ResolveDir: b.dir + strings.Repeat("/-", depth), Loader: options.Loader,
		},
		Bundle: true, LogLevel: api.LogLevelSilent, Define: options.Define, TsconfigRaw: options.TsconfigRaw,
		AbsWorkingDir: b.dir, LogLimit: 0,
		Plugins: []api.Plugin{{Name: "patterns", Setup: func(pb api.PluginBuild) {
			pb.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
				if a.Kind == api.ResolveEntryPoint {
					return api.OnResolveResult{}, nil
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
		}
	}
	return nil
}

// mayComputePath reports whether code has an import that may compute its path. It is false only if all imports
// certainly do not.
func mayComputePath(code []byte) bool {
	for i := range keywords(code, "import", "require") {
		word := code[i:]
		if !staticCall.Match(word[:min(len(word), 500)]) && !isDeclaration(word) {
			return true
		}
	}
	for i := 0; ; i += 2 {
		next := bytes.Index(code[i:], []byte(`\u`))
		if next < 0 {
			return false
		}
		if i += next; escaped.Match(code[i:]) {
			return true
		}
	}
}

// isDeclaration reports whether a keyword begins an import declaration, import.meta, or another word. The
// characters that it excludes begin a call or a comment.
func isDeclaration(word []byte) bool {
	if rest, ok := bytes.CutPrefix(word, []byte("import")); ok {
		rest = bytes.TrimLeft(rest, " \t\r\n\v\f")
		return bytes.HasPrefix(rest, []byte(".meta")) || len(rest) == 0 || rest[0] < 0x80 &&
			!bytes.ContainsRune([]byte("(/.<-"), rune(rest[0]))
	}
	rest := word[len("require"):]
	return len(rest) > 0 && isWord(rest[0])
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}

// keywords yields the offsets at which the occurrences of words in code begin and end.
func keywords(code []byte, words ...string) iter.Seq2[int, int] {
	return func(yield func(begin, end int) bool) {
		for _, word := range words {
			for end := 0; ; {
				next := bytes.Index(code[end:], []byte(word))
				if next < 0 {
					break
				}
				begin := end + next
				if end = begin + len(word); !yield(begin, end) {
					return
				}
			}
		}
	}
}

// patternPrefix matches the beginning of the path of an import with a pattern, up to the first computed part, if it is
// not relative.
var patternPrefix = regexp.MustCompile("(\\bimport\\s*\\(\\s*(?:/\\*[^*]*\\*/\\s*)?`)((?:[^`$./\\s][^`$\\s]*)?/[^`$]*)\\$\\{")

// resolvePatterns replaces an alias at the beginning of a pattern, such as "@/pages/", by a relative path, because
// the bundler expands relative patterns only.
func (b *bundler) resolvePatterns(file string, code []byte) []byte {
	if isInPackage(file) {
		return code
	}
	return patternPrefix.ReplaceAllFunc(code, func(match []byte) []byte {
		m := patternPrefix.FindSubmatch(match)
		folder := b.web + string(m[2])
		if m[2][0] != '/' {
			files := b.config.candidates(string(m[2]) + "x")
			if len(files) == 0 {
				return match
			}
			folder = strings.TrimSuffix(files[0], "x")
		}
		relative, err := filepath.Rel(path.Dir(file), folder)
		if err != nil {
			return match
		}
		relative = filepath.ToSlash(relative)
		if !isRelative(relative) {
			relative = "./" + relative
		}
		if strings.HasSuffix(folder, "/") {
			relative += "/"
		}
		return []byte(string(m[1]) + relative + "${")
	})
}
