package action

import (
	"context"
	"maps"
	"unicode/utf8"

	"devplatform/shared/project/path"
)

// Draft is a project's files as actions leave them. Not for concurrent use.
//
// Failure policy: an action that can't be done leaves no trace, and the ones after it meet the files as if it had not been asked for.
// Whether what was checked still holds when it is written is for the batch to say, by the versions that its operations name.
type Draft struct {
	overlay
	done       []Action
	operations []Operation
}

// NewDraft starts with the files as they are stored.
func NewDraft(stored Files) *Draft { return &Draft{overlay: newOverlay(stored)} }

// Actions are those taken in, in their order. The search and replacement of an edit have the line endings of their file.
func (d *Draft) Actions() []Action { return d.done }

// Operations is what the actions come to, as a batch (API.md §5): no path twice, each with the version that was checked. A file whose
// content was written and is in the end as it was is among them, for its version; one that was only moved and came back is not.
func (d *Draft) Operations() []Operation { return d.operations }

// Apply checks an action against the draft and takes it in. Errors: *Problem, which leaves the draft as it was; storage's.
func (d *Draft) Apply(ctx context.Context, a Action) error {
	if len(d.done) == Most {
		return problemf("An answer has at most %d actions; this one is too many.", Most)
	}
	before := maps.Clone(d.changed)
	order := len(d.order)
	operations, err := d.take(ctx, &a)
	if err != nil {
		d.changed, d.order = before, d.order[:order]
		return err
	}
	d.done, d.operations = append(d.done, a), operations
	return nil
}

// take does an action and asks whether all that was done so far still makes a batch.
func (d *Draft) take(ctx context.Context, a *Action) ([]Operation, error) {
	if err := checkPath("path", a.Path); err != nil {
		return nil, err
	}
	if err := d.prepare(ctx, placesOf(a)...); err != nil {
		return nil, err
	}
	if err := d.do(ctx, a); err != nil {
		return nil, err
	}
	settled, err := d.settle(ctx)
	if err != nil {
		return nil, err
	}
	operations := d.operationsOf(settled)
	return operations, checkBatch(operations)
}

// placesOf are the paths that an action's checks look at: its own, and where it makes a file, also the folders that this is in.
func placesOf(a *Action) []string {
	places := []string{a.Path}
	switch {
	case a.Type == CreateFile:
		places = append(places, path.Ancestors(a.Path)...)
	case a.Type == RenameFile && a.To != nil && path.Check(*a.To) == "":
		places = append(append(places, *a.To), path.Ancestors(*a.To)...)
	}
	return places
}

func (d *Draft) do(ctx context.Context, a *Action) error {
	switch a.Type {
	case CreateFile:
		return d.create(ctx, a)
	case UpdateFile:
		return d.update(ctx, a)
	case EditFile:
		return d.edit(ctx, a)
	case DeleteFile:
		return d.delete(ctx, a.Path)
	case RenameFile:
		return d.rename(ctx, a)
	case AddDependency:
		return d.addDependency(ctx, a)
	}
	return problemf("There is no action %s.", shown(string(a.Type)))
}

func (d *Draft) create(ctx context.Context, a *Action) error {
	if err := checkContent(a.Content); err != nil {
		return err
	}
	if err := d.mustBeFree(ctx, a.Path); err != nil {
		return err
	}
	d.set(a.Path, state{exists: true, content: *a.Content})
	return nil
}

func (d *Draft) update(ctx context.Context, a *Action) error {
	if err := checkContent(a.Content); err != nil {
		return err
	}
	if _, err := d.mustExist(ctx, a.Path); err != nil {
		return err
	}
	d.set(a.Path, state{exists: true, content: *a.Content})
	return nil
}

func (d *Draft) delete(ctx context.Context, path string) error {
	if _, err := d.mustExist(ctx, path); err != nil {
		return err
	}
	d.set(path, state{})
	return nil
}

func (d *Draft) rename(ctx context.Context, a *Action) error {
	if a.To == nil {
		return problemf("rename_file needs the new path, to.")
	}
	if err := checkPath("to", *a.To); err != nil {
		return err
	}
	if *a.To == a.Path {
		return problemf("%s can't be renamed to itself: to must be another path.", a.Path)
	}
	file, err := d.mustExist(ctx, a.Path)
	if err != nil {
		return err
	}
	d.set(a.Path, state{}) // first, as a file may move into a folder of its own old name
	if err := d.mustBeFree(ctx, *a.To); err != nil {
		return err
	}
	d.set(*a.To, file)
	return nil
}

func (d *Draft) edit(ctx context.Context, a *Action) error {
	if a.Search == nil || a.Replace == nil {
		return problemf("edit_file needs both search and replace.")
	}
	before, err := d.text(ctx, a.Path)
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
	if err := checkContent(&after); err != nil {
		return err
	}
	d.set(a.Path, state{exists: true, content: after})
	return nil
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
	before, err := d.text(ctx, a.Path)
	if err != nil {
		return err
	}
	after, err := manifest.edit(before, packages)
	if err != nil {
		return problemf("%s could not be changed: %s.", a.Path, err.Error())
	}
	if err := checkContent(&after); err != nil {
		return err
	}
	d.set(a.Path, state{exists: true, content: after})
	return nil
}

// checkPath refuses what is no path. Nothing that did not pass it is quoted plainly.
func checkPath(field, text string) error {
	if rule := path.Check(text); rule != "" {
		return problemf("%s %s is not a file's path: it %s.", field, shown(text), rule)
	}
	return nil
}

// checkContent refuses what can't be the content of a text file.
func checkContent(content *string) error {
	switch {
	case content == nil:
		return problemf("The content is missing.")
	case len(*content) > maxContent:
		return problemf("The content would be %d bytes long; a file has at most 1 MiB.", len(*content))
	case !utf8.ValidString(*content):
		return problemf("The content is not UTF-8 text.")
	}
	return nil
}
