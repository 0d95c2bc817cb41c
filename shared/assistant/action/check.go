package action

import (
	"context"
	"strings"
	"unicode/utf8"

	"devplatform/shared/project/content"
	"devplatform/shared/project/path"
)

func (d *Draft) create(a *Action) error {
	if err := checkPath("path", a.Path, path.CheckNew); err != nil {
		return err
	}
	if err := d.checkFree(a.Path); err != nil {
		return err
	}
	return d.setText(a.Path, a.Content)
}

func (d *Draft) rename(a *Action) error {
	if a.To == nil {
		return problemf(`rename_file requires the new path in the field "to".`)
	}
	if err := checkPath("to", *a.To, path.CheckNew); err != nil {
		return err
	}
	if *a.To == a.Path {
		return problemf(`%s can't be renamed to itself: the field "to" must be another path.`, a.Path)
	}
	old, err := d.existingFile(a.Path)
	if err != nil {
		return err
	}
	d.set(a.Path, state{}) // first, because /a may be renamed to /a/b
	if err := d.checkFree(*a.To); err != nil {
		return err
	}
	d.set(*a.To, old)
	return nil
}

func (d *Draft) edit(ctx context.Context, a *Action) error {
	if a.Search == nil || a.Replace == nil {
		return problemf("edit_file requires both search and replace.")
	}
	before, err := d.Text(ctx, a.Path)
	if err != nil {
		return err
	}
	if lineEnding(before) == crlf {
		search, replace := toCRLF(*a.Search), toCRLF(*a.Replace)
		a.Search, a.Replace = &search, &replace
	}
	after, err := replaceOnce(a.Path, before, *a.Search, *a.Replace)
	if err != nil {
		return err
	}
	return d.setText(a.Path, &after)
}

func (d *Draft) addDependency(ctx context.Context, a *Action) error {
	manifest, err := manifestAt(a.Path)
	if err != nil {
		return err
	}
	packages, err := manifest.packages(a.Packages)
	if err != nil {
		return err
	}
	before, err := d.Text(ctx, a.Path)
	if err != nil {
		return err
	}
	if len(before) > maxManifest {
		return problemf("%s is larger than %d KiB, so add_dependency cannot change it: use edit_file.", a.Path,
			maxManifest>>10)
	}
	after, err := manifest.edit(before, packages)
	if err != nil {
		return problemf("%s could not be changed: %s.", a.Path, err.Error())
	}
	a.Packages = make([]string, len(packages))
	for i, p := range packages {
		a.Packages[i] = p.name + "@" + p.version
		if len(a.Packages[i]) > maxPackage {
			return problemf("The package %s is too long.", shortQuote(a.Packages[i]))
		}
	}
	return d.setText(a.Path, &after)
}

// setText sets the content of a file. It returns a problem if the content is missing, too long or not UTF-8.
func (d *Draft) setText(path string, text *string) error {
	switch {
	case text == nil:
		return problemf("The content is missing.")
	case len(*text) > content.MaxBytes:
		return problemf("The content would be %d bytes long; a file can have at most 1 MiB.", len(*text))
	case !utf8.ValidString(*text):
		return problemf("The content is not UTF-8 text.")
	}
	d.set(path, state{exists: true, content: *text})
	return nil
}

// checkPath returns a problem if text is not a valid path: check is path.Check or path.CheckNew. A valid path has no
// line breaks or other control characters, so after this check the text of a problem may contain the path without
// quotes.
func checkPath(field, text string, check func(path string) string) error {
	if rule := check(text); rule != "" {
		return problemf("%s %s is not a valid file path: it %s.", field, shortQuote(text), rule)
	}
	return nil
}

// set sets the state of a path.
func (d *Draft) set(path string, s state) {
	if _, isChanged := d.changed[path]; !isChanged {
		d.order = append(d.order, path)
	}
	d.changed[path] = s
}

// at returns the state of a path after the changes.
func (d *Draft) at(path string) state {
	if s, ok := d.changed[path]; ok {
		return s
	}
	if _, exists := d.stored.Stat(path); !exists {
		return state{}
	}
	return state{exists: true, origin: path}
}

// Text returns the content of a file, including the changes. It returns a *Problem if the file does not exist or is not
// text, or the error of the storage.
func (d *Draft) Text(ctx context.Context, path string) (string, error) {
	s, err := d.existingFile(path)
	if err != nil || s.origin == "" {
		return s.content, err
	}
	content, isText, err := d.stored.Read(ctx, s.origin)
	if err != nil || isText {
		return content, err
	}
	return "", problemf("%s is a binary file, or larger than 1 MiB: "+
		"it can be deleted, renamed and replaced, but not edited.", path)
}

// existingFile returns the state of the file at a path. It returns a problem if there is no file.
func (d *Draft) existingFile(path string) (state, error) {
	s := d.at(path)
	switch {
	case s.exists:
		return s, nil
	case d.isFolder(path):
		return s, problemf("%s is a folder. Only files can be changed.", path)
	}
	return s, problemf("The file %s does not exist.", path)
}

// checkFree returns a problem if no file can be created at the path: a file or a folder exists there, or one of the
// path's parent folders is a file.
func (d *Draft) checkFree(to string) error {
	if d.at(to).exists {
		return problemf("The file %s already exists: change it with edit_file or update_file, or choose another path.", to)
	}
	for _, folder := range path.Ancestors(to) {
		if d.at(folder).exists {
			return problemf("%s is a file, so %s can't be inside it.", folder, to)
		}
	}
	if d.isFolder(to) {
		return problemf("%s is a folder: choose another path for the file.", to)
	}
	return nil
}

// isFolder reports whether there are files inside a path after the changes.
func (d *Draft) isFolder(folder string) bool {
	inside := path.Inside(folder)
	for p, s := range d.changed {
		if s.exists && strings.HasPrefix(p, inside) {
			return true
		}
	}
	for p := range d.stored.Paths() {
		if _, isChanged := d.changed[p]; !isChanged && strings.HasPrefix(p, inside) {
			return true
		}
	}
	return false
}
