package site

import (
	"net/http"
	"strings"
)

// maxPath is the maximum length of a path that can have a file. The paths in a project and in an output are shorter.
const maxPath = 1024

// target is what a path shows: a file of the manifest with a status, or a redirect.
type target struct {
	status int
	// path is the path of the file, or the path to which a 308 redirects. "" if there is no file.
	path string
}

// find returns the response to a path that is not escaped. Paths are only compared with those of the manifest, so that
// no path leads to another object.
//
// /a shows /a or /a.html, and redirects to /a/ if only /a/index.html exists. /a/ shows /a/index.html, and redirects to
// /a if only /a.html exists. Otherwise the relative links of the page would lead to other files. Any other path shows
// /index.html if spa is set, and otherwise the nearest 404.html. A missing file in the bundler's folder is never
// /index.html: a page that was open during a deployment may request it, and a script would fail on the text of a page.
func (m Manifest) find(path string, spa bool) target {
	isClean := strings.HasPrefix(path, "/") && !strings.Contains(path, "//") && len(path) <= maxPath
	folder, isFolder := strings.CutSuffix(path, "/")
	switch {
	case !isClean:
		path = "/" // there is no such file; the nearest 404.html is that of the site
	case isFolder && m.has(folder+index):
		return target{http.StatusOK, folder + index}
	case !isFolder && m.has(path):
		return target{http.StatusOK, path}
	case !isFolder && m.has(path+".html"):
		return target{http.StatusOK, path + ".html"}
	case !isFolder && m.has(path+index):
		return target{http.StatusPermanentRedirect, path + "/"}
	case isFolder && m.has(folder+".html") && !m.has(folder):
		return target{http.StatusPermanentRedirect, folder}
	}
	isMissingAsset := strings.HasPrefix(path, assets) && m.isBundled()
	if spa && !isMissingAsset && m.has(index) {
		return target{http.StatusOK, index}
	}
	for i := strings.LastIndexByte(path, '/'); i >= 0; i = strings.LastIndexByte(path[:i], '/') {
		if page := path[:i] + "/404.html"; m.has(page) {
			return target{http.StatusNotFound, page}
		}
	}
	return target{status: http.StatusNotFound}
}

const (
	index  = "/index.html"
	assets = "/assets/" // the folder of the bundler's output
)

// isBundled reports whether the bundler has made a file of the deployment.
func (m Manifest) isBundled() bool {
	for _, f := range m.Files {
		if f.Hashed {
			return true
		}
	}
	return false
}

func (m Manifest) has(path string) bool {
	_, ok := m.Files[path]
	return ok
}
