package build

import (
	"bytes"
	"iter"
	"regexp"
	"slices"

	"github.com/evanw/esbuild/pkg/api"
)

// esbuild resolves import(`./pages/${name}.js`) by listing folders of the machine, without asking the plugin. So files
// with such an import must not reach it.

var (
	staticCall = regexp.MustCompile(
		"^(?:import|require)\\s*\\(\\s*(?:/\\*[^*]*\\*/\\s*)*(?:\"[^\"\\\\\\n]*\"|'[^'\\\\\\n]*'|`[^`\\\\$]*`)\\s*[,)]")
	// computed matches, in the output of esbuild, a call whose path may begin with "./" or "../".
	computed = regexp.MustCompile(
		"^(?:import|require)(?:\\.source|\\.defer)?\\((?:\\s|/\\*(?:[^*]|\\*+[^*/])*\\*+/|//[^\\n]*\\n)*" +
			"(?:\"(?:\\.|\\\\|\")|'(?:\\.|\\\\|')|`(?:\\.|\\\\|\\$|`))")
	// escaped matches a letter of a keyword that is written as an escape.
	escaped = regexp.MustCompile(`^\\u(?:00[67]|\{)`)
)

// computesPath returns the byte offset of an import whose path is computed from a relative one, or -1. code is
// JavaScript or TypeScript of any kind. To see what the bundler sees, it lets esbuild normalize the code first: there,
// the path is next to the keyword, constants are folded and escapes are resolved. options has the bundler's constants.
func computesPath(code []byte, options api.TransformOptions) int {
	at := suspicious(code)
	if at < 0 {
		return -1
	}
	options.Format = api.FormatESModule
	options.MinifySyntax, options.MinifyWhitespace = true, true
	options.LogLevel = api.LogLevelSilent
	result := api.Transform(string(code), options)
	for i := range keywords(result.Code) {
		if call := result.Code[i:]; computed.Match(call) && !staticCall.Match(call) {
			return at
		}
	}
	return -1
}

// hidden is a name that hideComputedPaths writes before computed paths. Its value is an empty array, which adds nothing
// to a text. esbuild does not know its value.
const hidden, hiddenValue = "__deployment_hidden", "Array.prototype"

// maxHidden is the maximum number of computed paths in a file that are hidden. The bundler's time grows faster than
// their number.
const maxHidden = 1000

// hideComputedPaths returns JavaScript whose computed paths esbuild does not recognize, so that browsers evaluate them.
// ok is false if that is not possible.
func hideComputedPaths(code []byte, options api.TransformOptions) (_ []byte, ok bool) {
	options.MinifySyntax, options.MinifyWhitespace = true, true
	options.LogLevel = api.LogLevelSilent
	normalized := api.Transform(string(code), options).Code
	var marked bytes.Buffer
	end, n := 0, 0
	for _, i := range slices.Sorted(keywords(normalized)) {
		if call := normalized[i:]; computed.Match(call) && !staticCall.Match(call) {
			if n++; n > maxHidden {
				return nil, false
			}
			open := i + bytes.IndexByte(call, '(') + 1
			marked.Write(normalized[end:open])
			marked.WriteString(hidden + "+")
			end = open
		}
	}
	marked.Write(normalized[end:])
	// The bundler replaces the name in code, and leaves it in strings, where it is removed.
	options.Loader = api.LoaderJS
	replacing := options
	replacing.Define = map[string]string{hidden: hiddenValue}
	result := bytes.ReplaceAll(api.Transform(marked.String(), replacing).Code, []byte(hidden+"+"), nil)
	return result, len(result) > 0 && computesPath(result, options) < 0
}

// suspicious returns the offset of the first import that may compute its path, or -1. It allows only imports that
// certainly do not.
func suspicious(code []byte) int {
	for i := range keywords(code) {
		word := code[i:]
		if !staticCall.Match(word[:min(len(word), 500)]) && !isDeclaration(word) {
			return i
		}
	}
	for i := 0; ; i += 2 {
		next := bytes.Index(code[i:], []byte(`\u`))
		if next < 0 {
			return -1
		}
		if i += next; escaped.Match(code[i:]) {
			return i
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

// keywords yields the offsets of "import" and "require".
func keywords(code []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, keyword := range []string{"import", "require"} {
			for i := 0; ; i += len(keyword) {
				next := bytes.Index(code[i:], []byte(keyword))
				if next < 0 {
					break
				}
				if i += next; !yield(i) {
					return
				}
			}
		}
	}
}
