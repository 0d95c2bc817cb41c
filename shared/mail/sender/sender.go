// Package sender reads the mails from the stream of their table and sends them. It also reads the events of Amazon SES
// about mails that did not arrive. It decides whether and when a mail is sent. It must not contain texts of mails.
package sender

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sesv2"

	"devplatform/shared/async"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/lambdafn"
	"devplatform/shared/limit"
	"devplatform/shared/mail"
	"devplatform/shared/mail/render"
	"devplatform/shared/metric"
)

const (
	// sendTimeout is the time limit for sending one mail.
	sendTimeout = 20 * time.Second
	// limitSubject is the subject of the limit of mails: all mails count together.
	limitSubject = "service"
)

// Settings are the settings of the function that sends mails.
type Settings struct {
	// From is the address of the sender.
	From string `env:"MAIL_FROM,required,notEmpty"`
	// ConfigurationSet is the name of the configuration set in SES, which reports mails that did not arrive.
	ConfigurationSet string `env:"MAIL_CONFIGURATION_SET,required,notEmpty"`
	// PerHour is the number of mails that the whole service sends in one hour. Further mails wait.
	PerHour int `env:"LIMIT_MAILS_HOUR" envDefault:"1000" min:"1"`
	Texts   render.Settings
}

// Deps are the dependencies of a Sender.
type Deps struct {
	DB              *db.Client
	SES             *sesv2.Client // see NewSES
	Mails, Accounts db.Table
	Keys            *config.Keys
	Clock           clock.Clock
	Logger          *slog.Logger
	Metrics         *metric.Metrics
	Settings        Settings
}

// Sender sends mails. It is safe for concurrent use.
//
// A mail is sent at least once, and nearly always exactly once: an invocation claims the mail before it sends the mail,
// and stores the outcome afterwards. If the invocation is killed in between, another invocation sends the mail when the
// claim has ended.
type Sender struct {
	store    store
	ses      sesClient
	counters *limit.Counters
	rule     limit.Rule
	keys     *config.Keys
	texts    *render.Renderer
	now      clock.Clock
	logger   *slog.Logger
	metrics  *metric.Metrics
}

// New returns a Sender. It does no I/O. It returns an error if a setting is invalid.
func New(d Deps) (*Sender, error) {
	texts, err := render.New(d.Settings.Texts)
	if err != nil {
		return nil, err
	}
	from := netmail.Address{Name: d.Settings.Texts.Name, Address: d.Settings.From}
	return &Sender{
		store:    store{client: d.DB, mails: d.Mails, accounts: d.Accounts, now: d.Clock},
		ses:      sesClient{d.SES, from.String(), d.Settings.ConfigurationSet},
		counters: limit.New(d.DB, d.Accounts, d.Clock),
		rule:     limit.Rule{Name: "mails", Limit: d.Settings.PerHour, Window: time.Hour},
		keys:     d.Keys, texts: texts, now: d.Clock, logger: d.Logger, metrics: d.Metrics,
	}, nil
}

// The metrics of mails. Alarms of template.yaml use them.
const (
	metricSent       = "MailsSent"
	metricRejected   = "MailsRejected" // by SES
	metricExpired    = "MailsExpired"  // before they could be sent
	metricLimited    = "MailsLimited"  // attempts beyond the limit of the service
	metricBounced    = "MailsBounced"
	metricComplained = "MailsComplained"
)

func (s *Sender) count(ctx context.Context, name string) {
	s.metrics.Put(ctx, metric.Value{Name: name, Unit: metric.Count, Values: []float64{1}})
}

// Handle sends the mail of a record of the stream. Errors: lambdafn.ErrPoison if the mail cannot be read or rendered;
// errors of storage and of SES, after which a retry sends the mail.
func (s *Sender) Handle(ctx context.Context, r lambdafn.StreamRecord) error {
	if r.EventName != "INSERT" { // the sender's own writes, and the expiry of a mail
		return nil
	}
	mailID, m, err := mail.Open(ctx, s.keys, r.NewImage)
	if errors.Is(err, mail.ErrUnreadable) {
		return fmt.Errorf("%w: %w", lambdafn.ErrPoison, err)
	}
	if err != nil {
		return err
	}
	log := s.logger.With("mail", mailID, "kind", m.Kind, "userId", m.UserID)
	switch {
	case m.Discard:
		return nil
	case !m.ExpiresAt.After(s.now()):
		log.WarnContext(ctx, "a mail expired before it was sent")
		s.count(ctx, metricExpired)
		return nil
	case !isAddress(m.To):
		log.ErrorContext(ctx, "a mail is dropped: its address is not valid")
		s.count(ctx, metricRejected)
		return nil
	}
	at, _ := id.Mail.Time(mailID)
	rendered, err := s.texts.Render(m, at)
	if err != nil {
		return fmt.Errorf("%w: mail %s: %w", lambdafn.ErrPoison, mailID, err)
	}
	claim := rand.Text()
	switch err := s.store.claim(ctx, mailID, claim); {
	case errors.Is(err, errDone):
		return nil
	case err != nil:
		return err
	}
	o, messageID, err := s.deliver(ctx, mailID, m, rendered)
	if err != nil {
		return errors.Join(err, s.store.release(ctx, mailID, claim))
	}
	log.InfoContext(ctx, "mail", "outcome", o, "messageId", messageID)
	if err := s.store.finish(ctx, mailID, o, messageID); err != nil {
		// The mail was sent or dropped. If this invocation failed, the next one would handle the mail again.
		log.WarnContext(ctx, "the outcome of a mail was not stored", "outcome", o, "cause", err.Error())
	}
	return nil
}

// deliver sends a claimed mail, unless mail does not arrive at its address. Every error means that a retry may succeed.
func (s *Sender) deliver(
	ctx context.Context, mailID string, m mail.Message, rendered render.Mail,
) (o outcome, messageID string, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	switch ok, err := s.isDeliverable(ctx, mailID, m); {
	case errors.Is(err, errRejected):
		return s.reject(ctx, mailID, err), "", nil
	case err != nil:
		return "", "", err
	case !ok:
		return undeliverable, "", nil
	}
	if _, err := s.counters.Count(ctx, s.counters.Counter(s.rule, limitSubject)); err != nil {
		if errors.Is(err, limit.ErrTooMany) {
			s.count(ctx, metricLimited)
		}
		return "", "", fmt.Errorf("mail %s: %w", mailID, err)
	}
	switch messageID, err = s.ses.send(ctx, mailID, m.To, rendered); {
	case errors.Is(err, errRejected):
		return s.reject(ctx, mailID, err), "", nil
	case err != nil:
		return "", "", errors.Join(fmt.Errorf("mail %s: %w", mailID, err), s.refund(ctx))
	}
	s.count(ctx, metricSent)
	return sent, messageID, nil
}

// reject logs and counts a mail that SES does not accept.
func (s *Sender) reject(ctx context.Context, mailID string, err error) outcome {
	s.logger.ErrorContext(ctx, "SES rejected a mail, which is dropped", "mail", mailID, "cause", err.Error())
	s.count(ctx, metricRejected)
	return rejected
}

// refund takes back the count of a mail that was not sent, so that an outage of SES does not use up the limit.
func (s *Sender) refund(ctx context.Context) error {
	ctx, cancel := async.Detach(ctx, endTimeout)
	defer cancel()
	_, err := s.store.client.Do(ctx, s.counters.Add(s.rule, limitSubject, s.now(), -1))
	return err
}

// isDeliverable reports whether a mail can be sent to its address. An address at which mail does not arrive gets only
// mails with TryUndeliverable, and only one a day.
func (s *Sender) isDeliverable(ctx context.Context, mailID string, m mail.Message) (bool, error) {
	state, err := s.store.state(ctx, m.To)
	switch {
	case err != nil:
		return false, err
	case state.UndeliverableSince == nil:
		return true, nil
	case !m.TryUndeliverable:
		return false, nil
	}
	switch err := s.store.tryAddress(ctx, m.To, mailID); {
	case errors.Is(err, errTriedToday):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, s.ses.unsuppress(ctx, m.To)
}

// isAddress reports whether text is only an e-mail address. Other text could add a recipient or a header.
func isAddress(text string) bool {
	parsed, err := netmail.ParseAddress(text)
	return err == nil && parsed.Name == "" && parsed.Address == text
}
