package build

import (
	"path"
	"regexp"
	"strings"
)

// builtFolder returns the files of the folder that is built. It is the folder of the settings, or, if the project has
// neither a package.json nor a page at its root, the only folder below that has one.
func (in Input) builtFolder() (root string, files map[string][]byte) {
	root = strings.TrimSuffix(path.Join("/", in.Root), "/")
	if in.Root == "" {
		root = findRoot(in.Files)
	}
	if root == "" {
		return "", in.Files
	}
	files = map[string][]byte{}
	for name, data := range in.Files {
		if rel, ok := strings.CutPrefix(name, root+"/"); ok {
			files["/"+rel] = data
		}
	}
	return root, files
}

// noRootFolder matches folders that are a part of a project, and not a project.
var noRootFolder = regexp.MustCompile(`/(\.[^/]*|node_modules|public|src|dist|build|out|static|assets|docs|tests?)(/|$)`)

// findRoot returns the only folder with a package.json, or else the only one with an index.html. It returns "" if there
// are several, or if the root is a project.
func findRoot(files map[string][]byte) string {
	if _, ok := files[manifestPath]; ok || hasEntry(files) {
		return ""
	}
	for _, base := range []string{"package.json", "index.html"} {
		var found []string
		for name := range files {
			if folder := path.Dir(name); path.Base(name) == base && !noRootFolder.MatchString(folder) {
				found = append(found, folder)
			}
		}
		if len(found) == 1 {
			return found[0]
		} else if len(found) > 1 {
			return ""
		}
	}
	return ""
}
