package mailbox

import (
	"crypto/sha256"
	_ "embed" // the page
	"encoding/base64"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("").Parse(pageSource))

// pagePolicy allows the style sheet of the page, and frames with mails.
var pagePolicy = func() string {
	_, css, _ := strings.Cut(pageSource, "<style>")
	css, _, _ = strings.Cut(css, "</style>")
	hash := sha256.Sum256([]byte(css))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// mailPolicy makes the HTML of a mail a document without an origin and without scripts. Its links open new windows.
const mailPolicy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; " +
	"img-src data:; base-uri 'none'; frame-ancestors 'self'"

// Console returns the handler of the pages for people, and of GET /mail for tests. It sends no CORS headers, so that
// only its own pages and programs can read mails.
func (s *Store) Console() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.servePage)
	mux.HandleFunc("GET /mail", s.serveList)
	mux.HandleFunc("GET /mail/{id}", s.serveMail)
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		guarded.ServeHTTP(w, r)
	})
}

// find returns the mails that a filter accepts. It responds with an error if they cannot be read.
func (s *Store) find(w http.ResponseWriter, accepts func(*Mail) bool) ([]Mail, bool) {
	found, err := s.mails(accepts)
	if err != nil {
		s.Logger.Error("mailbox: reading", slog.Any("error", err))
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
	return found, err == nil
}

// recipient returns the filter of a query: mails to its address, or all mails if it has none.
func recipient(to string) func(*Mail) bool {
	return func(m *Mail) bool { return to == "" || strings.EqualFold(m.To, to) }
}

func (s *Store) serveList(w http.ResponseWriter, r *http.Request) {
	if found, ok := s.find(w, recipient(r.FormValue("to"))); ok {
		w.Header().Set("Content-Type", "application/json")
		_ = json.MarshalWrite(w, map[string][]Mail{"mails": found}) // the client may have gone
	}
}

func (s *Store) servePage(w http.ResponseWriter, r *http.Request) {
	to := strings.TrimSpace(r.FormValue("to"))
	found, ok := s.find(w, recipient(to))
	if !ok {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, struct { // fails only if the client has gone
		To    string
		Max   int
		Mails []Mail
	}{to, maxMails, found})
}

// serveMail responds with the HTML of a mail, for a frame of the page.
func (s *Store) serveMail(w http.ResponseWriter, r *http.Request) {
	found, ok := s.find(w, func(m *Mail) bool { return m.ID == r.PathValue("id") })
	switch {
	case !ok:
	case len(found) == 0:
		http.NotFound(w, r)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", mailPolicy)
		_, _ = w.Write([]byte("<!doctype html><base target=_blank>" + found[0].HTML)) // the client may have gone
	}
}
