package build

import (
	"bytes"
	"iter"
	"path"
	"regexp"
	"strings"
)

// importedName matches a specifier that may name a package, after its quotation mark.
var importedName = regexp.MustCompile(`^(?:@[\w.~-]+/)?[\w~-][\w.~-]*`)

const (
	// maxImport is the number of bytes after a keyword that are searched.
	maxImport = 512
	// maxImports is the number of imports in all files that are read. Only large files that are no sources have more.
	maxImports = 100_000
)

// otherSources are the extensions of files that contain scripts.
var otherSources = wordSet(".html .vue .svelte .astro .mdx")

// runtimes are the packages that components import after they were compiled.
var runtimes = map[string]string{".vue": "vue", ".svelte": "svelte"}

// Imports returns the names of the packages that the sources of a project may import. It reads the text only, so it
// also finds names in comments.
func Imports(files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	read := 0
	for name, data := range files {
		ext := strings.ToLower(path.Ext(name))
		if runtime := runtimes[ext]; runtime != "" {
			names[runtime] = true
		}
		if !isCode(name) && !otherSources[ext] || ext == ".json" || isExcluded(name) {
			continue
		}
		for begin, end := range keywords(data, "from", "import", "require") {
			rest := bytes.TrimLeft(data[end:min(end+maxImport, len(data))], " \t\r\n\v\f(")
			if len(rest) == 0 || !strings.Contains("\"'`", string(rest[:1])) || begin > 0 && isWord(data[begin-1]) {
				continue // most keywords: the expression would take much longer
			}
			if m := importedName.Find(rest[1:]); m != nil {
				names[string(m)] = true
			}
			if read++; read == maxImports {
				return names
			}
		}
	}
	return names
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

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}
