package platform

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"devplatform/infra/local/resources"
)

// Link is an address for people: a URL, or the folder of the data.
type Link struct{ Name, Address, Note string }

// Page is a page of the project. It is a link if the API has a route with exactly that path.
type Page struct{ Name, Path string }

// Links returns the platform's addresses. The pages of the project are the last ones.
func (p *Platform) Links() []Link {
	const stores = "DynamoDB and its streams, SQS, S3, Secrets Manager, SES"
	links := []Link{{"data", p.config.DataDir, ""}, {"AWS", p.AWS, "Lambda, " + stores}}
	if p.config.EndpointURL != "" {
		links = []Link{{"data", p.config.EndpointURL, stores}, {"AWS", p.AWS, "Lambda"}}
	}
	if p.HTTPS != "" {
		links = append(links, Link{"https", p.HTTPS, "self-signed"})
	}
	if p.Sites != "" {
		links = append(links, Link{"sites", p.SiteAddress(), ""})
	}
	if p.usesCodeHost() {
		links = append(links, Link{"code host", p.CodeHost + "/", ""})
	}
	if p.Console != "" {
		links = append(links, Link{"console", p.Console, "the mailbox"})
	}
	for _, page := range p.config.Pages {
		if slices.ContainsFunc(p.Stack.APIs, func(api resources.API) bool {
			return slices.ContainsFunc(api.Routes, func(r resources.Route) bool { return r.Path == page.Path })
		}) {
			links = append(links, Link{page.Name, p.URL + page.Path, ""})
		}
	}
	return links
}

// usesCodeHost reports whether a function has a variable with an address of the built-in code host.
func (p *Platform) usesCodeHost() bool {
	return p.CodeHost != "" && slices.ContainsFunc(p.Stack.Functions, func(f resources.Function) bool {
		for _, value := range f.Env {
			if strings.HasPrefix(value, p.CodeHost) {
				return true
			}
		}
		return false
	})
}

var landing = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Local platform</title>
<style>body{font:1rem/1.6 system-ui,sans-serif;max-width:44rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}
th{text-align:left;padding-right:2rem;font-weight:normal;vertical-align:top}td{word-break:break-word}</style>
<h1>Local platform</h1>
<table>{{range .}}
<tr><th>{{.Name}}<td>{{if .IsPage}}<a href="{{.Address}}">{{.Address}}</a>{{else}}{{.Address}}{{end}}
{{- with .Note}} ({{.}}){{end}}
{{- end}}
</table>
`))

// IsPage reports whether a browser can open the link.
func (l Link) IsPage() bool { return l.Name != "data" && l.Name != "AWS" && l.Name != "sites" }

// serveLanding responds with a page of the links in reverse order.
func (p *Platform) serveLanding(w http.ResponseWriter, _ *http.Request) {
	links := p.Links()
	slices.Reverse(links)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = landing.Execute(w, links) // fails only if the client has gone
}
