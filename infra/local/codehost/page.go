package codehost

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the pages
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

//go:embed page.html
var pagesSource string

var pages = template.Must(template.New("").Parse(pagesSource))

// pagePolicy allows form-action to all web addresses, because browsers also apply it to the redirects after the form.
var pagePolicy = func() string {
	_, css, _ := strings.Cut(pagesSource, `{{define "css"}}`)
	css, _, _ = strings.Cut(css, "{{end}}")
	hash := sha256.Sum256([]byte(css))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; form-action 'self' http: https:; frame-ancestors 'none'; base-uri 'none'"
}()

// consentInput has the values of the form and their errors.
type consentInput struct {
	Known, Login, Email string
	Verified            bool
	Wrong               fieldErrors
}

type consentPage struct {
	Client, Place, Action string
	Scopes                []string
	Fields                url.Values
	Known                 []identity
	Input                 consentInput
}

func (s *Server) showConsent(w http.ResponseWriter, status int, a authorization, input consentInput) {
	page := consentPage{
		Client: s.clientID, Place: originOf(a.redirectURI), Action: s.base + pathAuthorize,
		Fields: a.fields, Known: s.identities.all(), Input: input,
	}
	for _, scope := range a.scopes {
		page.Scopes = append(page.Scopes, scopeTexts[scope])
	}
	s.show(w, status, "consent", page)
}

func (s *Server) showError(w http.ResponseWriter, status int, text string) {
	s.show(w, status, "error", text)
}

// home handles GET /, a list of the identities.
func (s *Server) home(w http.ResponseWriter, _ *http.Request) {
	s.show(w, http.StatusOK, "home", s.identities.all())
}

func (s *Server) show(w http.ResponseWriter, status int, name string, data any) {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, name, data); err != nil {
		s.log.Error("codehost: page", "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}
