package site

import (
	"errors"
	"net/http"
	"strings"

	"devplatform/shared/db"
	"devplatform/shared/objectstore"
	"devplatform/shared/site/rule"
)

// maxPath is the maximum length of a path that can have a file. The paths in a project and in an output are shorter.
const maxPath = 1024

// isClean reports whether a path can have a file.
func isClean(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.Contains(path, "//") && len(path) <= maxPath
}

// resolve returns the file that a path shows, or else the path to which it redirects. Both are "" if there is neither.
// The path is not escaped, and only compared with the paths of the manifest, so that no path leads to another object.
//
// /a shows /a or /a.html, and redirects to /a/ if only /a/index.html exists. /a/ shows /a/index.html, and redirects to
// /a if only /a.html exists. Otherwise the relative links of the page would lead to other files.
func (m Manifest) resolve(path string) (file, redirect string) {
	folder, isFolder := strings.CutSuffix(path, "/")
	switch {
	case !isClean(path):
	case isFolder && m.has(folder+index):
		return folder + index, ""
	case !isFolder && m.has(path):
		return path, ""
	case !isFolder && m.has(path+".html"):
		return path + ".html", ""
	case !isFolder && m.has(path+index):
		return "", path + "/"
	case isFolder && m.has(folder+".html") && !m.has(folder):
		return "", folder
	}
	return "", ""
}

// File returns the path of the file that a path shows, also after a redirect to or from a folder. "" if there is none.
func (m Manifest) File(path string) string {
	file, redirect := m.resolve(path)
	if redirect != "" {
		file, _ = m.resolve(redirect)
	}
	return file
}

// find returns the file or the redirect of a path. ok is false if the site has no file for it.
func (m Manifest) find(path, query string) (t rule.Result, ok bool) {
	file, redirect := m.resolve(path)
	if redirect == "" {
		return rule.Result{Status: http.StatusOK, File: file}, file != ""
	}
	location, ok := rule.Location(redirect, query)
	if !ok {
		return rule.Result{Status: http.StatusRequestURITooLong}, true
	}
	return rule.Result{Status: http.StatusPermanentRedirect, Location: location}, true
}

// findOther returns the result for a path without a file: of the first rule of the site that matches, otherwise
// /index.html if spa is set, otherwise the nearest 404.html. In the bundler's folder, only rules for paths in it apply,
// and a missing file is never /index.html: a script would fail on the text of a page.
func (m Manifest) findOther(path, query string, spa bool) rule.Result {
	rules := m.Redirects
	if !isClean(path) {
		path, rules = "/", nil // no rule applies, and the nearest 404.html is in the root folder
	}
	r := rule.Request{Path: path, Query: query}
	isMissingAsset := m.isMissingAsset(path)
	if isMissingAsset {
		r.Below = assets
	}
	if t, ok := rule.Apply(rules, r, m.File); ok {
		return t
	}
	if spa && !isMissingAsset && m.has(index) {
		return rule.Result{Status: http.StatusOK, File: index}
	}
	for i := strings.LastIndexByte(path, '/'); i >= 0; i = strings.LastIndexByte(path[:i], '/') {
		if page := path[:i] + "/404.html"; m.has(page) {
			return rule.Result{Status: http.StatusNotFound, File: page}
		}
	}
	return rule.Result{Status: http.StatusNotFound}
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

// findEarlier finds a path among the files with hashed names of the deployments that were live earlier. A page that was
// open during a deployment may still request them. It returns the ID of the deployment, "" if none has the file. Such
// files are only in the bundler's folder. For a path in the folder, it reads the deployments' own addresses with one
// call: a deployment that was deleted has no address, and an operator may have blocked the address. If an address has
// the path, it reads the manifest, unless the manifest is in memory. Errors: db.ErrUnavailable,
// objectstore.ErrUnavailable.
func (v *view) findEarlier(path string) (deploymentID string, f File, err error) {
	if !strings.HasPrefix(path, assets) {
		return "", f, nil
	}
	var keys []db.Key
	for _, e := range v.address.Earlier {
		if v.Clock().Unix() < e.Until {
			keys = append(keys, db.AddressKey(e.Label))
		}
	}
	if len(keys) == 0 {
		return "", f, nil
	}
	items, err := v.Sites.BatchGet(v.ctx, keys...)
	if err != nil {
		return "", f, err
	}
	for _, key := range keys {
		a, err := db.Decode[Address](items[key])
		if err != nil {
			return "", f, err
		}
		if a.Blocked || !a.HashedPaths.has(path) {
			continue
		}
		m, err := v.manifests.get(v.ctx, a.manifestKey())
		switch {
		case errors.Is(err, objectstore.ErrNotFound): // the deployment was deleted meanwhile
			continue
		case err != nil:
			return "", f, err
		case m.Files[path].Hashed:
			return a.DeploymentID, m.Files[path], nil
		}
	}
	return "", f, nil
}
