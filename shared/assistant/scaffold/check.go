package scaffold

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"devplatform/shared/assistant/model"
)

// understand returns the requests of a prompt, each with its framework and fields. It returns an error with the reason
// if it does not understand the prompt completely.
func understand(f model.Facts) ([]request, error) {
	requests, err := parse(f.Prompt)
	for i := range requests {
		if err == nil {
			err = requests[i].check(f)
		}
	}
	return requests, err
}

// check selects the framework, adds the fields of well-known forms, and returns an error if something is missing.
func (r *request) check(f model.Facts) error {
	if r.piece == rename || r.piece == remove || r.piece == install {
		return r.checkChange(f)
	}
	if r.piece == starter && r.topic == "app" && r.framework == "" {
		return refusef("I do not know which app you mean.")
	}
	if r.piece != form && slices.ContainsFunc(r.fields, func(f field) bool { return f.Type == "password" }) {
		return refusef("A password can be a field of a form only. Leave it out of the %s.", r.piece)
	}
	isEssential := func(f field) bool { return essentialFields[r.topic][f.Key] }
	if len(r.fields) > 0 && essentialFields[r.topic] != nil && !slices.ContainsFunc(r.fields, isEssential) {
		return refusef("A %s form needs more fields. Name all of them, for example: “%s”.", r.topic, formFields[r.topic])
	}
	if len(r.fields) == 0 && formFields[r.topic] != "" {
		if err := (&parser{tokens: sentences(formFields[r.topic])[0]}).fields(r); err != nil {
			return err
		}
	}
	if len(r.fields) == 0 && takesRecords[r.piece] {
		return refusef("The %s needs fields, for example: “%s”.", r.piece, examples[r.piece])
	}
	if r.name == "" && (r.piece == component || (r.piece == page && r.topic == "")) {
		return refusef("The %s needs a name, for example: “%s”.", r.piece, examples[r.piece])
	}
	if r.piece == endpoint && r.records == "" {
		return refusef("The endpoint needs a plural noun, for example: “%s”.", examples[endpoint])
	}
	if r.piece == endpoint && slices.ContainsFunc(r.fields, func(f field) bool { return f.Key == "id" }) {
		return refusef("The endpoint numbers its records itself. Leave out the field “id”.")
	}
	return r.selectFramework(f)
}

// examples are requests that are understood.
var examples = map[piece]string{
	form:      "a form for orders with name, email and quantity",
	list:      "a list of books with title and author",
	table:     "a table of users with name and email",
	page:      "a page called About",
	component: "a component called PriceTag",
	endpoint:  "an endpoint for products with name and price",
}

// selectFramework selects the framework that the request names, then the project's. Without a project, it selects the
// first that has the piece in the requested language. Only starters and endpoints can differ from the project.
func (r *request) selectFramework(f model.Facts) error {
	name := strings.ToLower(strings.TrimSpace(f.Framework))
	project := cmp.Or(frameworks[name], frameworks[name+".js"])
	switch {
	case r.framework == "" && project == "" && name != "":
		return refusef("I have no templates for the framework %s.", clip(f.Framework))
	case r.framework == "" || (r.framework == react && project == next):
		r.framework = project
	case name != "" && r.framework != project && r.piece != starter && r.piece != endpoint:
		return refusef("The project uses %s, which would not use a file for %s.",
			cmp.Or(displayNames[project], clip(f.Framework)), displayNames[r.framework])
	}
	var available []string
	for _, candidate := range byPreference {
		if !hasTemplate(candidate, r.piece) {
			continue
		}
		if (r.framework == "" || r.framework == candidate) && speaks(f.Language, extensions[candidate]) {
			r.framework = candidate
			return nil
		}
		available = append(available, displayNames[candidate])
	}
	if f.Language != "" {
		return refusef("I have no template for this in the language %s.", clip(f.Language))
	}
	return refusef("The piece “%s” exists only for %s.", r.piece, enumerate(available))
}

// languages maps extensions to the names of languages.
var languages = map[string]map[string]bool{
	".html": set("html"), ".jsx": set("javascript, js, jsx"), ".mjs": set("javascript, js"), ".go": set("go, golang"),
}

// speaks reports whether files with the extension are written in the language. "" means any language.
func speaks(language, extension string) bool {
	language = strings.ToLower(strings.TrimSpace(language))
	return language == "" || languages[extension][language]
}

// checkChange checks the paths of a change against the project.
func (r *request) checkChange(f model.Facts) error {
	if r.piece == install {
		if r.path = nearestManifest(f); r.path == "" {
			return refusef("The project has no package.json that I could add %s to.", enumerate(r.packages))
		}
		return nil
	}
	if !exists(f, r.path) {
		return refusef("I do not see the file %s in the project.", clip(r.path))
	}
	isInside := func(name string) bool { return strings.HasPrefix(name, r.to+"/") }
	if r.piece == rename && ((path.Ext(r.path) != "" && path.Ext(r.to) == "") || slices.ContainsFunc(f.Paths, isInside)) {
		return refusef("I need the new path with the name of the file, such as %s.", clip(path.Join(r.to, path.Base(r.path))))
	}
	if r.piece == rename && exists(f, r.to) {
		return refusef("The file %s exists already.", clip(r.to))
	}
	return nil
}

func exists(f model.Facts, name string) bool {
	isNamed := func(g model.File) bool { return g.Path == name }
	return slices.Contains(f.Paths, name) || slices.ContainsFunc(f.Files, isNamed)
}

// nearestManifest returns the package.json of the innermost folder that contains the current file and has one, or "".
func nearestManifest(f model.Facts) string {
	for folder := path.Dir("/" + strings.TrimPrefix(f.CurrentFile, "/")); ; folder = path.Dir(folder) {
		if name := path.Join(folder, "package.json"); exists(f, name) {
			return name
		}
		if folder == "/" {
			return ""
		}
	}
}

// enumerate joins names to "a, b and c".
func enumerate(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}
