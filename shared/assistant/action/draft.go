package action

import (
	"context"
	"maps"
	"unicode/utf8"

	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
)

// Draft is a view of a project's files that includes the changes of the applied actions. The stored files do not
// change. A Draft is not safe for concurrent use.
//
// Failure policy: an action that is not possible changes nothing and has no effect on the next action. A Draft does not
// detect concurrent changes of the stored files. The batch of operations detects them when it is executed, because its
// operations contain the ETags of the files.
type Draft struct {
	overlay
	actions []Action
	batch   []file.Operation
}

// NewDraft returns a draft of the stored files without changes.
func NewDraft(stored Files) *Draft {
	return &Draft{overlay: overlay{stored: stored, changed: map[string]state{}}}
}

// Actions returns the applied actions in order. The search and replacement texts of an edit have CR LF line endings if
// the file has them.
func (d *Draft) Actions() []Action { return d.actions }

// Operations returns the batch of operations that has the same effect as all actions. No path occurs twice. The batch
// includes a file that was overwritten with the same content, so that its version is checked. It does not include a
// file that was renamed and then renamed back. All operations except create have the ETag of the version that the
// actions were checked against.
func (d *Draft) Operations() []file.Operation { return d.batch }

// Apply checks an action against the draft and applies it. It returns a *Problem if the action is not possible, or the
// error of the storage. In both cases the draft does not change.
func (d *Draft) Apply(ctx context.Context, a Action) (err error) {
	if len(d.actions) == MaxPerAnswer {
		return problemf("An answer can have at most %d actions. This action exceeds the limit.", MaxPerAnswer)
	}
	if err := checkPath("path", a.Path, path.Check); err != nil {
		return err
	}
	changed, order := maps.Clone(d.changed), len(d.order)
	defer func() {
		if err != nil {
			d.changed, d.order = changed, d.order[:order]
		}
	}()
	toCheck := []string{a.Path}
	switch {
	case a.Type == CreateFile:
		toCheck = append(toCheck, path.Ancestors(a.Path)...)
	case a.Type == RenameFile && a.To != nil && path.Check(*a.To) == "":
		toCheck = append(append(toCheck, *a.To), path.Ancestors(*a.To)...)
	}
	if err := d.stored.Prepare(ctx, toCheck...); err != nil {
		return err
	}
	switch a.Type {
	case CreateFile:
		err = d.create(ctx, &a)
	case UpdateFile:
		if _, err = d.existingFile(ctx, a.Path); err == nil {
			err = d.setText(a.Path, a.Content)
		}
	case EditFile:
		err = d.edit(ctx, &a) // may convert the line endings of the texts
	case DeleteFile:
		if _, err = d.existingFile(ctx, a.Path); err == nil {
			d.set(a.Path, state{})
		}
	case RenameFile:
		err = d.rename(ctx, &a)
	case AddDependency:
		err = d.addDependency(ctx, &a)
	default:
		err = problemf("There is no action %s.", shortQuote(string(a.Type)))
	}
	if err != nil {
		return err
	}
	operations, err := d.operations(ctx)
	if err != nil {
		return err
	}
	if rules := file.CheckLimits(operations); len(rules) > 0 {
		return problemf("This action exceeds a limit: the changes of an answer %s.", rules[0])
	}
	d.actions, d.batch = append(d.actions, a), operations
	return nil
}

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
