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
	path   string // of the file; "" if there is none
	// location is the path to which a redirect leads. "" if the target is not a redirect.
	location string
}

// isClean reports whether a path can have a file.
func isClean(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.Contains(path, "//") && len(path) <= maxPath
}

// resolve returns the file or the redirect to which a path leads. ok is false if it leads to neither. The path is not
// escaped, and only compared with those of the manifest, so that no path leads to another object.
//
// /a shows /a or /a.html, and redirects to /a/ if only /a/index.html exists. /a/ shows /a/index.html, and redirects to
// /a if only /a.html exists. Otherwise the relative links of the page would lead to other files.
func (m Manifest) resolve(path string) (t target, ok bool) {
	folder, isFolder := strings.CutSuffix(path, "/")
	switch {
	case !isClean(path):
		return target{}, false
	case isFolder && m.has(folder+index):
		return target{status: http.StatusOK, path: folder + index}, true
	case !isFolder && m.has(path):
		return target{status: http.StatusOK, path: path}, true
	case !isFolder && m.has(path+".html"):
		return target{status: http.StatusOK, path: path + ".html"}, true
	case !isFolder && m.has(path+index):
		return target{status: http.StatusPermanentRedirect, location: path + "/"}, true
	case isFolder && m.has(folder+".html") && !m.has(folder):
		return target{status: http.StatusPermanentRedirect, location: folder}, true
	}
	return target{}, false
}

// missing returns what a path shows that leads to no file: /index.html if spa is set, otherwise the nearest 404.html. A
// missing file in the bundler's folder is never /index.html: a script would fail on the text of a page.
func (m Manifest) missing(path string, spa bool) target {
	if !isClean(path) {
		path = "/" // the nearest 404.html is that of the site
	}
	if spa && !m.isMissingAsset(path) && m.has(index) {
		return target{status: http.StatusOK, path: index}
	}
	for i := strings.LastIndexByte(path, '/'); i >= 0; i = strings.LastIndexByte(path[:i], '/') {
		if page := path[:i] + "/404.html"; m.has(page) {
			return target{status: http.StatusNotFound, path: page}
		}
	}
	return target{status: http.StatusNotFound}
}

const (
	index  = "/index.html"
	assets = "/assets/" // the folder of the bundler's output
)

// isMissingAsset reports whether a path without a file is in the bundler's folder, and the bundler has made a file of
// the deployment.
func (m Manifest) isMissingAsset(path string) bool {
	if !strings.HasPrefix(path, assets) {
		return false
	}
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
