// Package mailbox is Amazon SES for a laptop: it accepts the mails of functions, and shows them instead of sending
// them.
//
// It has the operation SendEmail of version 2 of the API, for one recipient and a subject, text and HTML, and
// DeleteSuppressedDestination, although no address is ever suppressed. It rejects everything else by name. The newest
// 500 mails are in the data folder, and survive a kill. [Store.Console] shows them to developers and tests. The package
// must not depend on the contents of mails.
package mailbox

import (
	"encoding/binary"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/go-json-experiment/json"

	"devplatform/infra/local/awsjson"
	"devplatform/infra/local/datafolder"
)

// maxMails is the maximum number of stored mails. After that, each new mail replaces the oldest one.
const maxMails = 500

// Options configure a Store. Every field is required.
type Options struct {
	Folder *datafolder.Folder
	Now    func() time.Time // the clock
	Logger *slog.Logger     // gets a line with the links of each mail
}

// Store holds the mails. It is an http.Handler for the API of SES, and safe for concurrent use.
type Store struct {
	Options

	api *awsjson.Service

	mutex sync.Mutex
	last  uint64 // the number of the newest mail
}

// Mail is a mail as GET /mail returns it.
type Mail struct {
	ID      string   `json:"id"` // the message ID that the sender got
	To      string   `json:"to"`
	From    string   `json:"from"`
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
	HTML    string   `json:"html"`
	Links   []string `json:"links"` // of the text, or of the HTML if there is no text
	Code    *string  `json:"code"`  // the first code in the text, nil if there is none
	SentAt  string   `json:"sentAt"`
}

// Open opens the mailbox in a folder.
func Open(options Options) (*Store, error) {
	s := &Store{Options: options}
	s.api = s.service()
	err := datafolder.Each(s.Folder.DB, []byte{datafolder.SpaceMail}, func(key, _ []byte) error {
		if len(key) != len(mailKey(0)) {
			return fmt.Errorf("a mail has the key %x", key)
		}
		s.last = binary.BigEndian.Uint64(key[1:])
		return nil
	})
	if err != nil {
		return nil, s.Folder.DamagedError(err)
	}
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, asTarget(r)) }

func mailKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{datafolder.SpaceMail}, number)
}

// add stores a mail, and removes the mails beyond the maximum number.
func (s *Store) add(m Mail) error {
	value, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding a mail: %w", err)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	number := s.last + 1
	err = s.Folder.Update(func(batch *pebble.Batch) error {
		if number > maxMails {
			if err := batch.DeleteRange(mailKey(0), mailKey(number-maxMails+1), nil); err != nil {
				return err
			}
		}
		return batch.Set(mailKey(number), value, nil)
	})
	if err == nil {
		s.last = number
	}
	return err
}

// mails returns the mails that a filter accepts, newest first.
func (s *Store) mails(accepts func(*Mail) bool) ([]Mail, error) {
	leave, err := s.Folder.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	found := []Mail{}
	err = datafolder.Each(s.Folder.DB, []byte{datafolder.SpaceMail}, func(_, value []byte) error {
		var m Mail
		if err := json.Unmarshal(value, &m); err != nil {
			return s.Folder.DamagedError(err)
		}
		if accepts(&m) {
			found = append(found, m)
		}
		return nil
	})
	slices.Reverse(found)
	return found, err
}

var (
	link = regexp.MustCompile(`https?://[^\s<>"']*[^\s<>"'.,;:!?)\]]`)
	href = regexp.MustCompile(`(?i)\bhref\s*=\s*["'](https?://[^"'\s]+)`)
	// code matches a code of eight characters of Crockford's alphabet, also in two groups of four, that is alone on a line
	// or the last word of a line, after a colon.
	code = regexp.MustCompile(`(?m)(?:^|:)[^\S\n]*([0-9A-HJKMNP-TV-Z]{4}[- ]?[0-9A-HJKMNP-TV-Z]{4})[^\S\n]*\r?$`)
)

// linksOf returns the web addresses in a text, or if there is no text, in the links of an HTML page.
func linksOf(text, page string) []string {
	links := []string{}
	if text != "" {
		return append(links, link.FindAllString(text, -1)...)
	}
	for _, match := range href.FindAllStringSubmatch(page, -1) {
		links = append(links, html.UnescapeString(match[1]))
	}
	return links
}

// codeOf returns the first code in a text, or nil.
func codeOf(text string) *string {
	match := code.FindStringSubmatch(text)
	if match == nil {
		return nil
	}
	found := strings.NewReplacer("-", "", " ", "").Replace(match[1])
	return &found
}
