package build

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// importedName matches a specifier that may name a package, after its quotation mark.
var importedName = regexp.MustCompile(`^(?:@[\w.~-]+/)?[\w~-][\w.~-]*`)

const (
	// maxImport is the maximum number of bytes after one of importWords that are searched.
	maxImport = 512
	// maxImports is the maximum number of imports that are read in all files. Only large files of data have more.
	maxImports = 100_000
)

// importWords are the words that can be before a specifier.
var importWords = [][]byte{[]byte("from"), []byte("import"), []byte("require"), []byte("@plugin"),
	[]byte("@use"), []byte("@forward")}

// otherSources are the extensions of files that contain scripts.
var otherSources = wordSet(".html .vue .svelte .astro .mdx")

// styleConfig matches the configurations of tools for style sheets.
var styleConfig = regexp.MustCompile(`/(tailwind|postcss)\.config\.[cm]?[jt]s$`)

// runtimes are the packages that components import after they were compiled.
var runtimes = map[string]string{".vue": "vue", ".svelte": "svelte"}

// Imports returns the names of the packages that the sources of a project may import. It reads the text only, so it
// also finds names in comments.
func Imports(files map[string][]byte) map[string]bool {
	names := map[string]bool{}
	imports := 0
	for name, data := range files {
		ext := strings.ToLower(path.Ext(name))
		if runtime := runtimes[ext]; runtime != "" {
			names[runtime] = true
		}
		if !isCode(name) && !otherSources[ext] || ext == ".json" || isExcluded(name) {
			continue
		}
		// Style sheets and configurations import engineModules, which are not installed.
		isStyle := isStyleSheet(name) || styleConfig.MatchString(name)
		for _, word := range importWords {
			for before, rest, ok := bytes.Cut(data, word); ok; before, rest, ok = bytes.Cut(rest, word) {
				spec := bytes.TrimLeft(rest[:min(maxImport, len(rest))], " \t\r\n\v\f(")
				isPart := len(before) > 0 && isWord(before[len(before)-1]) // of another word
				if isPart || len(spec) == 0 || !strings.Contains("\"'`", string(spec[:1])) {
					continue // most words: the expression would take much longer
				}
				spec = bytes.TrimPrefix(bytes.TrimPrefix(spec[1:], []byte("~")), []byte("pkg:")) // in style sheets
				if m := importedName.Find(spec); m != nil && (!isStyle || !engineModules.Match(m)) {
					names[string(m)] = true
				}
				imports++
				if imports == maxImports {
					return names
				}
			}
		}
	}
	return names
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}
