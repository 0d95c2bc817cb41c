package platformtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Mail is a mail in the mailbox of a platform.
type Mail struct {
	ID, Subject, Text string
	Links             []string
	Code              string // "" if the mail has none
}

// Mails returns the mails to an address, newest first.
func (p *Platform) Mails(to string) []Mail {
	p.t.Helper()
	body := NewClient(p.t, p.Console).Do(http.MethodGet, "/mail?to="+url.QueryEscape(to), "").Body
	var list struct{ Mails []Mail }
	if err := json.Unmarshal(body, &list); err != nil {
		p.t.Fatalf("the mailbox: %s: %v", body, err)
	}
	return list.Mails
}

// Link waits until the mailbox has a mail to an address with a link that contains a text, such as "/page/confirm#", and
// that is not one of the links in known. It returns the link of the newest such mail.
func (p *Platform) Link(to, text string, known ...string) (found string) {
	p.t.Helper()
	Eventually(p.t, "the mailbox has a mail to "+to+" with the link "+text, func() bool {
		for _, mail := range p.Mails(to) {
			for _, link := range mail.Links {
				if strings.Contains(link, text) && !slices.Contains(known, link) {
					found = link
					return true
				}
			}
		}
		return false
	})
	return found
}
