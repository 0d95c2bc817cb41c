package build

import (
	"path"
	"regexp"
	"strings"
)

// builtFolder returns the folder that is built, or "" for the root of the project, and its files with paths relative to
// the folder. It is the folder of the settings, or else the folder that findRoot finds.
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

// findRoot returns the only folder with a package.json, or else the only folder with an index.html. It returns "" if
// there are several such folders, or if the root has a package.json or an entry.
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
