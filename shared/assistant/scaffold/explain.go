package scaffold

import (
	"fmt"
	"strings"
)

// explanations say what the pieces do. {records} stands for the plural of the records.
var explanations = map[piece]string{
	starter: "It is an app for tasks that you can add, complete, filter and delete. It keeps them in the browser.",
	form:    "It checks its fields before it sends them, and shows a message beside each field that is not valid.",
	list:    "It shows three invented {records}. Replace them with your own.",
	table:   "It shows three invented {records}. Replace them with your own.",
	todo:    "It adds, completes and deletes entries, and keeps them in the browser.",
	page:    "It has a heading and a paragraph for your text.",
	component: "It shows its title, and has a place for content. It does nothing else: its name has no influence on what it " +
		"does.",
	endpoint: "It lists, creates, reads, replaces and deletes {records}, checks their fields, and keeps them in memory " +
		"until the server stops.",
	button:  "It has no action yet.",
	card:    "It has a title and a place for content.",
	counter: "It counts up and down.",
	modal:   "It is a dialog that a button opens. Escape closes it.",
}

// usage says how to use the files of a framework.
var usage = map[framework]string{
	static:  "Open `{path}` in a browser.",
	react:   "Import it where you need it.",
	next:    "Import it where you need it.",
	express: "Mount it with `app.use(\"/{records}\", router)`.",
	golang:  "Mount it with `mux.Handle(\"/{records}/\", http.StripPrefix(\"/{records}\", {records}.New()))`.",
}

// usageOf says how to use pieces that need more than the files of their framework.
var usageOf = map[framework]map[piece]string{
	static: {starter: "Open `/index.html` in a browser.", form: "Set its `data-url` to the address of your server."},
	react:  {starter: "Run `npm install` and `npm run dev`.", form: "Pass it `onSubmit`, which receives the values."},
	next:   {page: "Next.js serves it at its path.", form: "Pass it `onSubmit`, which receives the values."},
}

// explain returns a paragraph about the files of a request.
func explain(r request, files []file) string {
	text := fmt.Sprintf("%s for %s: `%s`.", r.title(), displayNames[r.framework], files[0].path)
	if r.piece == starter {
		text = fmt.Sprintf("A starter for %s.", displayNames[r.framework])
	}
	if len(r.fields) > 0 {
		var labels []string
		for _, f := range r.fields {
			optional := map[bool]string{true: ", optional"}[f.Optional]
			labels = append(labels, fmt.Sprintf("%s (%s%s)", f.Label, f.Type, optional))
		}
		text += " Its fields are " + enumerate(labels) + "."
	}
	use, ok := usageOf[r.framework][r.piece]
	if !ok {
		use = usage[r.framework]
	}
	text += " " + explanations[r.piece] + " " + use
	return strings.NewReplacer("{records}", r.recordsName(), "{path}", files[0].path).Replace(text)
}
