package codehost

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"net/url"
)

// css is the style of all pages. Their policy allows it by its hash, and allows no scripts.
const css = `
:root { color-scheme: light dark; --line: #8888; --accent: #1f6feb; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --accent: #58a6ff; --bad: #ff7b72; } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
form { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 1rem 0; }
label { display: block; margin: .5rem 0 .2rem; } label.tick { display: flex; gap: .5rem; align-items: center; }
input[type=text], input[type=email], select { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem; }
button { font: inherit; padding: .4rem 1rem; margin: 1rem .5rem 0 0; border: 1px solid var(--line); border-radius: .4rem; cursor: pointer; }
button.main { border-color: var(--accent); font-weight: 600; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.wrong { color: var(--bad); margin: .2rem 0 0; } code { overflow-wrap: anywhere; }
`

const pagesSource = `
{{define "head"}}<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.}} – local code host</title>
<style>` + css + `</style>
</head>
<body>
<main>
<h1>{{.}}</h1>
{{end}}

{{define "foot"}}</main>
</body>
</html>
{{end}}

{{define "decision"}}<button class="main" type="submit" name="decision" value="authorize">Authorize</button>
<button type="submit" name="decision" value="cancel" formnovalidate>Cancel</button>
{{end}}

{{define "hidden"}}{{range $name, $values := .Fields}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">
{{end}}{{end}}{{end}}

{{define "consent"}}{{template "head" "Sign in"}}
<p>The application <strong>{{.Client}}</strong> at <code>{{.Place}}</code> asks to</p>
<ul>{{range .Scopes}}<li>{{.}}</li>{{end}}</ul>
<p>This is the local platform's own code host. It keeps no passwords: choose an identity.</p>
{{if .Known}}<form method="post" action="{{.Action}}" aria-labelledby="known">
{{template "hidden" .}}<h2 id="known">A known identity</h2>
<label for="identity">Identity</label>
<select id="identity" name="identity"{{with .Input.Wrong.identity}} aria-invalid="true" aria-describedby="identity-wrong"{{end}}>
{{range .Known}}<option value="{{.ID}}">{{.Login}} – {{.Email}}{{if not .Verified}} (not verified){{end}}</option>
{{end}}</select>
{{with .Input.Wrong.identity}}<p class="wrong" id="identity-wrong" role="alert">{{.}}</p>
{{end}}{{template "decision"}}</form>
{{end}}<form method="post" action="{{.Action}}" aria-labelledby="new">
{{template "hidden" .}}<h2 id="new">{{if .Known}}Another identity{{else}}A new identity{{end}}</h2>
<label for="login">Username</label>
<input type="text" id="login" name="login" value="{{.Input.Login}}" required maxlength="39" autocomplete="username" autocapitalize="none" spellcheck="false"{{with .Input.Wrong.login}} aria-invalid="true" aria-describedby="login-wrong"{{end}}>
{{with .Input.Wrong.login}}<p class="wrong" id="login-wrong" role="alert">{{.}}</p>
{{end}}<label for="email">E-mail</label>
<input type="email" id="email" name="email" value="{{.Input.Email}}" required maxlength="254" autocomplete="email"{{with .Input.Wrong.email}} aria-invalid="true" aria-describedby="email-wrong"{{end}}>
{{with .Input.Wrong.email}}<p class="wrong" id="email-wrong" role="alert">{{.}}</p>
{{end}}<label class="tick" for="verified"><input type="checkbox" id="verified" name="verified" value="true"{{if .Input.Verified}} checked{{end}}> The e-mail is verified</label>
<p>A known username keeps its id and gets this e-mail address.</p>
{{template "decision"}}</form>
{{template "foot"}}{{end}}

{{define "error"}}{{template "head" "The sign-in failed"}}
<p role="alert">{{.}}</p>
{{template "foot"}}{{end}}

{{define "home"}}{{template "head" "Local code host"}}
<p>Applications of the local platform sign people in here by OAuth 2.0 (authorization code with PKCE S256).</p>
{{if .}}<p>Identities:</p>
<ul>{{range .}}<li>{{.Login}} – {{.Email}}{{if not .Verified}} (not verified){{end}}</li>{{end}}</ul>
{{else}}<p>Nobody has signed in yet.</p>
{{end}}{{template "foot"}}{{end}}
`

var pages = template.Must(template.New("").Parse(pagesSource))

// pagePolicy allows form-action to all web addresses, because browsers also apply it to the redirects after the form.
var pagePolicy = func() string {
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

func (s *Server) showConsent(w http.ResponseWriter, r *http.Request, status int, a authorization, input consentInput) {
	page := consentPage{
		Client: s.clientID, Place: originOf(a.redirectURI), Action: s.base + pathAuthorize,
		Fields: maps.Clone(a.fields), Known: s.identities.all(), Input: input,
	}
	page.Fields.Set("csrf", s.csrfToken(s.browser(w, r), a.fields))
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
