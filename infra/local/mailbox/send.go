package mailbox

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/mail"
	"regexp"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"devplatform/infra/local/awsjson"
)

const (
	sendEmail        = "POST /v2/email/outbound-emails"
	deleteSuppressed = "DELETE /v2/email/suppression/addresses/" // and the address
	maxRequestBytes  = 1 << 20
	maxTags          = 50
)

func (s *Store) service() *awsjson.Service {
	return &awsjson.Service{
		Name: "ses", ContentType: awsjson.REST, MaxRequestBytes: maxRequestBytes, Logger: s.Logger,
		Folder: s.Folder,
		Targets: map[string]awsjson.Operations{"ses.": {
			sendEmail: awsjson.Handle(s.send), deleteSuppressed: refuseDeletion,
		}},
	}
}

// asTarget returns a copy of a request of a REST service that names its operation, the method and the path, in the
// header X-Amz-Target. The method becomes POST, so that an unknown operation gets an error with its name.
func asTarget(r *http.Request) *http.Request {
	named := r.Clone(r.Context())
	name := r.Method + " " + r.URL.Path
	if strings.HasPrefix(name, deleteSuppressed) {
		name = deleteSuppressed
	}
	named.Header.Set("X-Amz-Target", "ses."+name)
	named.Method = http.MethodPost
	return named
}

func badRequest(format string, args ...any) error {
	return &awsjson.Error{Type: "BadRequestException", Message: fmt.Sprintf(format, args...)}
}

// refuseDeletion is the operation DeleteSuppressedDestination. No address is suppressed, because no mail bounces.
func refuseDeletion(context.Context, *awsjson.Service, []byte, *bytes.Buffer) error {
	return &awsjson.Error{
		Type: "NotFoundException", Message: "The address is not on the suppression list.", Status: http.StatusNotFound,
	}
}

// content is a text with its character set.
type content struct {
	Data    string `json:"Data"`
	Charset string `json:"Charset"`
}

type tag struct {
	Name  string `json:"Name"`
	Value string `json:"Value"`
}

// sendInput is a SendEmailInput of AWS, without the members that are not supported.
type sendInput struct {
	FromEmailAddress string `json:"FromEmailAddress"`
	Destination      struct {
		ToAddresses []string `json:"ToAddresses"`
	} `json:"Destination"`
	Content struct {
		Simple struct {
			Subject content `json:"Subject"`
			Body    struct {
				Text content `json:"Text"`
				HTML content `json:"Html"`
			} `json:"Body"`
		} `json:"Simple"`
	} `json:"Content"`
	ConfigurationSetName string `json:"ConfigurationSetName"`
	EmailTags            []tag  `json:"EmailTags"`
}

type sendOutput struct {
	MessageID string `json:"MessageId"`
}

// send is the operation SendEmail.
func (s *Store) send(_ context.Context, in *sendInput) (*sendOutput, error) {
	m, err := in.mail()
	if err != nil {
		return nil, err
	}
	now := s.Now().UTC()
	m.ID, m.SentAt = uuid.NewString(), now.Format("2006-01-02T15:04:05.000Z")
	if err := s.add(m); err != nil {
		return nil, err
	}
	s.Logger.Info(strings.Join(append([]string{fmt.Sprintf("mail to %s: %q", m.To, m.Subject)}, m.Links...), " "))
	return &sendOutput{MessageID: m.ID}, nil
}

// mail returns the mail of a request, or the error for the first parameter that AWS or the local platform refuses.
func (in *sendInput) mail() (Mail, error) {
	subject, body := in.Content.Simple.Subject, in.Content.Simple.Body
	if _, err := parseAddress("FromEmailAddress", in.FromEmailAddress); err != nil {
		return Mail{}, err
	}
	if n := len(in.Destination.ToAddresses); n != 1 {
		return Mail{}, badRequest("Destination.ToAddresses has %d addresses: the local platform supports one.", n)
	}
	to, err := parseAddress("Destination.ToAddresses", in.Destination.ToAddresses[0])
	if err != nil {
		return Mail{}, err
	}
	for _, c := range []content{subject, body.Text, body.HTML} {
		if c.Charset != "" && !strings.EqualFold(c.Charset, "UTF-8") {
			return Mail{}, badRequest("The local platform does not support the character set %s: use UTF-8.", c.Charset)
		}
	}
	switch {
	case subject.Data == "":
		return Mail{}, badRequest("Content.Simple.Subject is required.")
	case strings.ContainsFunc(subject.Data, unicode.IsControl):
		return Mail{}, badRequest("Content.Simple.Subject has a control character.")
	case body.Text.Data == "" && body.HTML.Data == "":
		return Mail{}, badRequest("Content.Simple.Body needs Text or Html.")
	}
	return Mail{
		To: to, From: in.FromEmailAddress, Subject: subject.Data, Text: body.Text.Data, HTML: body.HTML.Data,
		Links: linksOf(body.Text.Data, body.HTML.Data), Code: codeOf(body.Text.Data),
	}, checkTags(in.EmailTags)
}

// parseAddress returns the address in a parameter, without the name of its owner. Like AWS, it refuses characters that
// are not ASCII.
func parseAddress(parameter, text string) (string, error) {
	parsed, err := mail.ParseAddress(text)
	isOther := func(c rune) bool { return c > unicode.MaxASCII }
	if err != nil || strings.ContainsFunc(text, isOther) {
		return "", badRequest("%s is not a mail address in ASCII: %q.", parameter, text)
	}
	return parsed.Address, nil
}

var tagPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)

func checkTags(tags []tag) error {
	if len(tags) > maxTags {
		return badRequest("EmailTags has %d tags: the maximum is %d.", len(tags), maxTags)
	}
	for _, t := range tags {
		if !tagPattern.MatchString(t.Name) || !tagPattern.MatchString(t.Value) {
			return badRequest("EmailTags: %q=%q must have 1 to 256 letters, digits, underscores and dashes each.", t.Name, t.Value)
		}
	}
	return nil
}
