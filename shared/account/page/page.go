// Package page serves the pages to which the links in mails lead, for stacks without a front end of their own: one
// small page for each kind of link. A page reads the token from the fragment of its address, which browsers do not
// send, and sends it when the user presses a button. So a request for a page never uses up a link. The endpoints that
// the buttons call, and the texts of mails, do not belong here.
package page

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"strings"

	"devplatform/shared/fault"
	"devplatform/shared/httpapi"
)

// policy is the Content-Security-Policy of the pages. It allows only the script and the style sheet of this package,
// and only requests to this origin.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// names are the names of the pages.
var names = []string{"confirm", "reset", "change", "undo", "invitation"}

//go:embed files
var embedded embed.FS

// file is a response with the content of a file.
type file struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	// Policy replaces the default Content-Security-Policy, unless it is "".
	Policy string `header:"Content-Security-Policy" hidden:"true"`
	Body   []byte
}

// files are the responses by the name of the file.
type files map[string]*file

// newFiles returns all files. It panics if an embedded file is missing.
func newFiles() files {
	read := func(name string) string {
		content, err := embedded.ReadFile("files/" + name)
		if err != nil {
			panic(fmt.Sprintf("account/page: %v", err))
		}
		return string(content)
	}
	all := files{
		"page.css": {ContentType: "text/css; charset=utf-8", Body: []byte(read("page.css"))},
		"page.js":  {ContentType: "text/javascript; charset=utf-8", Body: []byte(read("page.js"))},
	}
	layout := read("layout.html")
	for _, name := range names {
		content := read(name + ".html")
		_, heading, _ := strings.Cut(content, "<h1>")
		title, _, _ := strings.Cut(heading, "</h1>")
		body := strings.NewReplacer("TITLE", title, "CONTENT\n", content).Replace(layout)
		all[name] = &file{ContentType: "text/html; charset=utf-8", Policy: policy, Body: []byte(body)}
	}
	return all
}

type input struct {
	File string `path:"file" doc:"The name of a page: confirm, reset, change, undo or invitation; or of a file that the pages load: page.js or page.css" example:"confirm"`
}

// Register adds the endpoint, with the tag of accounts.
func Register(r *httpapi.Routes, tag httpapi.Tag) {
	httpapi.Public(r, httpapi.Operation{
		ID: "showMailPage", Method: http.MethodGet, Path: "/api/auth/page/{file}", Tag: tag,
		Summary: "Show the page of a link in a mail",
		Description: "Returns a web page, for services without a front end of their own. The page reads the token from the " +
			"fragment of its address (`#token=…`), and sends it only when the user presses a button.",
		Errors: []*fault.Error{httpapi.ErrNoRoute},
	}, newFiles().showMailPage)
}

func (all files) showMailPage(_ context.Context, in *input) (*file, error) {
	if f := all[in.File]; f != nil {
		return f, nil
	}
	return nil, httpapi.ErrNoRoute
}
