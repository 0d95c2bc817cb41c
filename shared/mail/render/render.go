// Package render turns a message into a mail: a subject, a text and HTML. It contains the words and the layout of
// mails. It must not send mails or read storage.
package render

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"strings"
	texttemplate "text/template"
	"time"

	"devplatform/shared/config"
	"devplatform/shared/mail"
)

// Settings are the settings of the texts.
type Settings struct {
	// Name is the name of the service in mails.
	Name string `env:"MAIL_NAME" envDefault:"devplatform"`
	// AppURL is the origin of the links in mails. It is not APP_URL, which may be empty in functions that get requests.
	AppURL config.Origin `env:"MAIL_ORIGIN,required,notEmpty"`
	// The paths of the pages of a front end below AppURL. Without them, links lead to the pages of the service.
	ConfirmPath    string `env:"CONFIRM_PATH"`
	ResetPath      string `env:"RESET_PATH"`
	ChangePath     string `env:"CHANGE_PATH"`
	UndoPath       string `env:"UNDO_PATH"`
	InvitationPath string `env:"INVITATION_PATH"`
}

// paths returns the paths of the pages of a front end.
func (s Settings) paths() map[mail.Kind]string {
	return map[mail.Kind]string{
		mail.Confirm: s.ConfirmPath, mail.Reset: s.ResetPath, mail.Change: s.ChangePath, mail.Undo: s.UndoPath,
		mail.Invitation: s.InvitationPath,
	}
}

// link returns the link of a message, "" if it has no token.
func (s Settings) link(m mail.Message) string {
	if m.Token == "" {
		return ""
	}
	return mail.Link(s.AppURL, s.paths()[m.Kind], m.Kind, m.Token)
}

// Mail is a mail that can be sent.
type Mail struct {
	Kind                mail.Kind
	Subject, Text, HTML string
}

// Renderer renders messages. It is safe for concurrent use.
type Renderer struct {
	settings Settings
}

var (
	//go:embed layout.html
	layoutHTML string
	//go:embed layout.txt
	layoutText string

	htmlLayout = template.Must(template.New("html").Parse(layoutHTML))
	textLayout = texttemplate.Must(texttemplate.New("text").Parse(layoutText))
)

// New returns a Renderer. It returns an error if a path is invalid.
func New(settings Settings) (*Renderer, error) {
	for _, path := range settings.paths() {
		if path != "" && (!strings.HasPrefix(path, "/") || strings.ContainsAny(path, "# \r\n")) {
			return nil, fmt.Errorf("render: the path %q of a link must begin with / and contain no #, space or line break", path)
		}
	}
	return &Renderer{settings: settings}, nil
}

// errUnknownKind reports a message of a kind without a text.
var errUnknownKind = errors.New("render: the kind of the mail is unknown")

// page is the input of the layouts.
type page struct {
	Subject, Service, Home   string
	Username                 string
	Before, After, Details   []paragraph
	Button, Link, Code, Ends string // Ends is the time until which the link and the code are valid
}

// Render renders a message. at is the time at which the message was stored. It returns an error if the kind of the
// message has no text.
func (r *Renderer) Render(m mail.Message, at time.Time) (Mail, error) {
	w, ok := allWords[m.Kind]
	if !ok {
		return Mail{}, errUnknownKind
	}
	v := values{message: m, service: r.settings.Name}
	p := page{
		Subject: v.plain(w.subject), Service: r.settings.Name, Home: string(r.settings.AppURL), Username: v.of("username"),
		Before: v.paragraphs(w.before), After: v.paragraphs(w.after), Details: v.details(at),
		Link: r.settings.link(m), Code: clean(m.Code),
	}
	if p.Link != "" {
		p.Button, p.Ends = w.button, date(m.ExpiresAt)
	}
	var text, html bytes.Buffer
	if err := textLayout.Execute(&text, p); err != nil {
		return Mail{}, fmt.Errorf("render: text: %w", err)
	}
	if err := htmlLayout.Execute(&html, p); err != nil {
		return Mail{}, fmt.Errorf("render: HTML: %w", err)
	}
	return Mail{Kind: m.Kind, Subject: p.Subject, Text: text.String(), HTML: html.String()}, nil
}

// date returns a time for people, in UTC and without a locale.
func date(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }
