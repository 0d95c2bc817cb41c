package blueprint

import (
	"sort"
	"strconv"
	"strings"

	"devplatform/shared/project/path"
)

// longestFolder bounds the folders that something is put into, so that a path stays one whatever the name.
const longestFolder = 200

// place knows where things lie in a project, and what is taken. Folders are written like paths, the topmost one is "".
type place struct {
	files   []string        // the project's, sorted
	taken   map[string]bool // files, by key
	folders map[string]bool // folders, by key
	known   []string        // folders that things are in, the topmost first
}

func newPlace(paths []string) *place {
	p := &place{taken: map[string]bool{}, folders: map[string]bool{"": true}}
	seen := map[string]bool{"": true}
	for _, file := range paths {
		if path.Check(file) != "" {
			continue
		}
		p.files = append(p.files, file)
		p.take(file)
		for _, folder := range path.Ancestors(file) {
			if !seen[folder] {
				seen[folder] = true
				p.known = append(p.known, folder)
			}
		}
	}
	sort.Strings(p.files)
	sort.Slice(p.known, func(i, j int) bool {
		a, b := strings.Count(p.known[i], "/"), strings.Count(p.known[j], "/")
		return a < b || a == b && p.known[i] < p.known[j]
	})
	return p
}

// take makes a path one that exists.
func (p *place) take(file string) {
	for _, key := range keysOf(file) {
		p.taken[key] = true
	}
	for _, folder := range path.Ancestors(file) {
		p.folders[strings.ToLower(folder)] = true
	}
}

// keysOf are what a file occupies: its path in any case of letters, since many disks don't tell cases apart, and, of a script, the path
// without its extension, since imports don't tell a.js from a.tsx.
func keysOf(file string) []string {
	file = strings.ToLower(file)
	for _, extension := range []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"} {
		if stem, ok := strings.CutSuffix(file, extension); ok {
			return []string{file, stem + "\x00"}
		}
	}
	return []string{file}
}

// has reports whether the project has one of the files.
func (p *place) has(files ...string) bool {
	for _, file := range files {
		i := sort.SearchStrings(p.files, file)
		if i < len(p.files) && p.files[i] == file {
			return true
		}
	}
	return false
}

// hasFolder reports whether something lies in the folder.
func (p *place) hasFolder(folder string) bool { return p.folders[strings.ToLower(folder)] }

// isFree reports whether a file could be created there, beside what exists and its imports' way of looking.
func (p *place) isFree(file string) bool {
	for _, key := range keysOf(file) {
		if p.taken[key] {
			return false
		}
	}
	if p.folders[strings.ToLower(file)] {
		return false
	}
	return p.isUsable(file[:strings.LastIndexByte(file, '/')])
}

// isUsable reports whether a folder is one or could become one: neither it nor one above it is a file.
func (p *place) isUsable(folder string) bool {
	if len(folder) > longestFolder {
		return false
	}
	for _, above := range path.Ancestors(folder + "/") {
		if p.taken[strings.ToLower(above)] {
			return false
		}
	}
	return true
}

// free is the first number that lets all of the paths be created together, as a suffix: "", "2", "3", ... The paths must differ by it.
// They are taken from then on.
func (p *place) free(paths func(suffix string) []string) string {
	suffix := ""
	for n := 2; n <= 2*len(p.files)+100; n++ { // every file that exists stands in the way of few
		files, ok := paths(suffix), true
		for _, file := range files {
			ok = ok && p.isFree(file)
		}
		if ok {
			for _, file := range files {
				p.take(file)
			}
			return suffix
		}
		suffix = strconv.Itoa(n)
	}
	return suffix // Make refuses what is not free
}

// base is the folder of the project's topmost manifest (package.json, go.mod); "" if it has none.
func (p *place) base(manifest string) string {
	best, found := "", false
	for _, file := range p.files {
		folder, ok := strings.CutSuffix(file, "/"+manifest)
		if !ok || isForeign(folder) || !p.isUsable(folder) {
			continue
		}
		if !found || strings.Count(folder, "/") < strings.Count(best, "/") {
			best, found = folder, true
		}
	}
	return best
}

// folder is the topmost folder in use whose path ends with one of the names (components, src/routes), tried in their order; where there
// is none, the first of the others that can be one: its last resort is the same with a number behind it.
func (p *place) folder(names []string, otherwise string) string {
	for _, name := range names {
		for _, folder := range p.known {
			if strings.HasSuffix(folder, "/"+name) && !isForeign(folder) && p.isUsable(folder) {
				return folder
			}
		}
	}
	folder := otherwise
	for n := 2; !p.isUsable(folder); n++ {
		if len(folder) > longestFolder || n > 100 {
			return ""
		}
		folder = otherwise + strconv.Itoa(n)
	}
	return folder
}

// source is where a script project keeps its sources: src where it has one or has nothing yet, if that is the framework's habit.
func (p *place) source(manifest string, habit bool) string { //nolint:unparam // every framework of scripts has the same manifest so far
	base := p.base(manifest)
	if p.hasFolder(base+"/src") && p.isUsable(base+"/src") {
		return base + "/src"
	}
	if habit && !p.hasScripts(base) {
		return p.folder(nil, base+"/src")
	}
	return base
}

// hasScripts reports whether sources lie in a folder that has no src: components, pages or lib of its own.
func (p *place) hasScripts(base string) bool {
	for _, folder := range []string{"components", "pages", "app", "lib", "hooks", "routes", "views"} {
		if p.hasFolder(base + "/" + folder) {
			return true
		}
	}
	return false
}

// isForeign reports whether a folder's contents are not the project's own work.
func isForeign(folder string) bool {
	for segment := range strings.SplitSeq(strings.ToLower(folder), "/") {
		switch segment {
		case "node_modules", "vendor", "dist", "build", "out", "coverage", "public", "static", "testdata":
			return true
		}
		if len(segment) > 1 && segment[0] == '.' {
			return true
		}
	}
	return false
}

// importPath is how a file imports another one: ./b, ../lib/b.
func importPath(from, to string) string {
	a, b := strings.Split(from, "/"), strings.Split(to, "/")
	a = a[:len(a)-1]
	same := 0
	for same < len(a) && same < len(b)-1 && a[same] == b[same] {
		same++
	}
	up := strings.Repeat("../", len(a)-same)
	if up == "" {
		up = "./"
	}
	return up + strings.Join(b[same:], "/")
}

// stem is a path without its last extension, as scripts import each other.
func stem(file string) string {
	if dot := strings.LastIndexByte(file, '.'); dot > strings.LastIndexByte(file, '/')+1 {
		return file[:dot]
	}
	return file
}

// baseName is the last segment of a path.
func baseName(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }
