package action

import (
	"context"
	"strings"

	"devplatform/shared/project/path"
)

// overlay is what is stored, and over it what has become of the paths that were touched.
type overlay struct {
	stored Files
	// known is what was asked of storage, which is asked once: all checks go by the same version of a file.
	known map[string]*storedFile
	// changed is what has become of the touched paths, order these in the order of their first touch.
	changed map[string]state
	order   []string
}

// storedFile is what is known of a path in storage.
type storedFile struct {
	File
	exists bool
	// isText and content are set once isRead, hasInside once isAsked.
	isRead, isText     bool
	content            string
	isAsked, hasInside bool
}

// state is what a path is.
type state struct {
	exists bool
	// origin is the stored file whose bytes, untouched, these are, under whatever name; empty: they are content.
	origin  string
	content string
}

func newOverlay(stored Files) overlay {
	return overlay{stored: stored, known: map[string]*storedFile{}, changed: map[string]state{}}
}

func (o *overlay) set(path string, s state) {
	if _, again := o.changed[path]; !again {
		o.order = append(o.order, path)
	}
	o.changed[path] = s
}

// prepare announces the paths that are not known yet, in one call if there are any.
func (o *overlay) prepare(ctx context.Context, paths ...string) error {
	var unknown []string
	for _, p := range paths {
		_, known := o.known[p]
		if _, touched := o.changed[p]; !known && !touched {
			unknown = append(unknown, p)
		}
	}
	if unknown == nil {
		return nil
	}
	return o.stored.Prepare(ctx, unknown...)
}

// file is what storage has at a path.
func (o *overlay) file(ctx context.Context, path string) (*storedFile, error) {
	if known, ok := o.known[path]; ok {
		return known, nil
	}
	f, exists, err := o.stored.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	o.known[path] = &storedFile{File: f, exists: exists}
	return o.known[path], nil
}

// read is a stored file with its content.
func (o *overlay) read(ctx context.Context, path string) (*storedFile, error) {
	f, err := o.file(ctx, path)
	if err != nil || f.isRead || !f.exists {
		return f, err
	}
	if f.content, f.isText, err = o.stored.Read(ctx, path); err != nil {
		return nil, err
	}
	f.isRead = true
	return f, nil
}

// at is what a path is, after everything that was done.
func (o *overlay) at(ctx context.Context, path string) (state, error) {
	if s, ok := o.changed[path]; ok {
		return s, nil
	}
	f, err := o.file(ctx, path)
	if err != nil || !f.exists {
		return state{}, err
	}
	return state{exists: true, origin: path}, nil
}

// text is the content of a text file that has to exist.
func (o *overlay) text(ctx context.Context, path string) (string, error) {
	s, err := o.mustExist(ctx, path)
	if err != nil {
		return "", err
	}
	return o.contentOf(ctx, path, s)
}

// contentOf is the content of what is at a path.
func (o *overlay) contentOf(ctx context.Context, path string, s state) (string, error) {
	if s.origin == "" {
		return s.content, nil
	}
	f, err := o.read(ctx, s.origin)
	if err != nil {
		return "", err
	}
	if !f.isText {
		return "", problemf("%s is a binary file: it can be deleted, renamed and replaced, but not edited.", path)
	}
	return f.content, nil
}

// mustExist refuses a path at which there is no file.
func (o *overlay) mustExist(ctx context.Context, path string) (state, error) {
	s, err := o.at(ctx, path)
	if err != nil || s.exists {
		return s, err
	}
	if folder, err := o.isFolder(ctx, path); err != nil || folder {
		return s, orProblem(err, "%s is a folder; actions are for files.", path)
	}
	return s, problemf("There is no file %s.", path)
}

// mustBeFree refuses a path at which no file can be made: because there is one, because it is a folder, or because a file is where one
// of its folders would have to be.
func (o *overlay) mustBeFree(ctx context.Context, to string) error {
	s, err := o.at(ctx, to)
	if err != nil || s.exists {
		return orProblem(err, "There is a file %s already: change it with edit_file or update_file, or choose another path.", to)
	}
	for _, folder := range path.Ancestors(to) {
		s, err := o.at(ctx, folder)
		if err != nil || s.exists {
			return orProblem(err, "%s is a file, so that %s can't be inside of it.", folder, to)
		}
	}
	if folder, err := o.isFolder(ctx, to); err != nil || folder {
		return orProblem(err, "%s is a folder of other files.", to)
	}
	return nil
}

// isFolder reports whether other files need a path to be a folder. A folder of stored files stays one even if all of them are gone
// from the draft: how many there are is not known.
func (o *overlay) isFolder(ctx context.Context, folder string) (bool, error) {
	for p, s := range o.changed {
		if s.exists && strings.HasPrefix(p, path.Inside(folder)) {
			return true, nil
		}
	}
	f, err := o.file(ctx, folder)
	if err != nil || f.exists || f.isAsked {
		return f != nil && f.hasInside, err
	}
	if f.hasInside, err = o.stored.HasInside(ctx, folder); err != nil {
		return false, err
	}
	f.isAsked = true
	return f.hasInside, nil
}

// orProblem is an error of storage's, or else a problem.
func orProblem(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return problemf(format, args...)
}
