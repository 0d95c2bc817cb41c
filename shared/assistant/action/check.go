package action

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"devplatform/shared/project/content"
	"devplatform/shared/project/path"
)

func (d *Draft) create(ctx context.Context, a *Action) error {
	if err := checkPath("path", a.Path, path.CheckNew); err != nil {
		return err
	}
	if err := d.checkFree(ctx, a.Path); err != nil {
		return err
	}
	return d.setText(a.Path, a.Content)
}

func (d *Draft) rename(ctx context.Context, a *Action) error {
	if a.To == nil {
		return problemf(`rename_file requires the new path in the field "to".`)
	}
	if err := checkPath("to", *a.To, path.CheckNew); err != nil {
		return err
	}
	if *a.To == a.Path {
		return problemf(`%s can't be renamed to itself: the field "to" must be another path.`, a.Path)
	}
	old, err := d.existingFile(ctx, a.Path)
	if err != nil {
		return err
	}
	d.set(a.Path, state{}) // first, because /a may be renamed to /a/b
	if err := d.checkFree(ctx, *a.To); err != nil {
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
func (d *Draft) at(ctx context.Context, path string) (state, error) {
	if s, ok := d.changed[path]; ok {
		return s, nil
	}
	_, exists, err := d.stored.Stat(ctx, path)
	if err != nil || !exists {
		return state{}, err
	}
	return state{exists: true, origin: path}, nil
}

// Text returns the content of a file, including the changes. It returns a *Problem if the file does not exist or is not
// text, or the error of the storage.
func (d *Draft) Text(ctx context.Context, path string) (string, error) {
	s, err := d.existingFile(ctx, path)
	if err != nil || s.origin == "" {
		return s.content, err
	}
	content, isText, err := d.stored.Read(ctx, s.origin)
	if err != nil || isText {
		return content, err
	}
	return "", problemf("%s is a binary file, or larger than 1 MiB: it can be deleted, renamed and replaced, but not edited.", path)
}

// existingFile returns the state of the file at a path. It returns a problem if there is no file.
func (d *Draft) existingFile(ctx context.Context, path string) (state, error) {
	s, err := d.at(ctx, path)
	if err != nil || s.exists {
		return s, err
	}
	if isFolder, err := d.isFolder(ctx, path); err != nil || isFolder {
		return s, orProblem(err, "%s is a folder. Only files can be changed.", path)
	}
	return s, problemf("The file %s does not exist.", path)
}

// checkFree returns a problem if no file can be created at the path: a file or a folder exists there, or one of the
// path's parent folders is a file.
func (d *Draft) checkFree(ctx context.Context, to string) error {
	s, err := d.at(ctx, to)
	if err != nil || s.exists {
		return orProblem(err, "The file %s already exists: "+
			"change it with edit_file or update_file, or choose another path.", to)
	}
	for _, folder := range path.Ancestors(to) {
		s, err := d.at(ctx, folder)
		if err != nil || s.exists {
			return orProblem(err, "%s is a file, so %s can't be inside it.", folder, to)
		}
	}
	if isFolder, err := d.isFolder(ctx, to); err != nil || isFolder {
		return orProblem(err, "%s is a folder: choose another path for the file.", to)
	}
	return nil
}

// isFolder reports whether there are files inside a path after the changes.
func (d *Draft) isFolder(ctx context.Context, folder string) (bool, error) {
	removed := 0 // files inside the folder
	for p, s := range d.changed {
		if !strings.HasPrefix(p, path.Inside(folder)) {
			continue
		}
		if s.exists {
			return true, nil
		}
		removed++
	}
	if _, isFile, err := d.stored.Stat(ctx, folder); err != nil || isFile {
		return false, err
	}
	inside, err := d.stored.Inside(ctx, folder, removed+1)
	return slices.ContainsFunc(inside, func(p string) bool {
		_, isRemoved := d.changed[p]
		return !isRemoved
	}), err
}

// orProblem returns err if it is not nil. Otherwise it returns a problem with the formatted message.
func orProblem(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return problemf(format, args...)
}
