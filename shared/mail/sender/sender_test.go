package sender_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/limit"
	"devplatform/shared/mail"
	"devplatform/shared/mail/sender"
)

func TestMailIsSentOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	record := f.write(message("ada@example.com"))
	f.handle(record)
	f.handle(record)
	f.clock.Advance(time.Hour)
	f.handle(record)
	f.handle(lambdafn.StreamRecord{SequenceNumber: "2", EventName: "MODIFY", NewImage: record.NewImage})
	if len(f.ses.mails) != 1 {
		t.Fatalf("SES got %d mails, want one", len(f.ses.mails))
	}
	m := f.ses.mails[0]
	if m.FromEmailAddress != `"Acme" <no-reply@example.com>` || m.ConfigurationSetName != "set" ||
		!slices.Equal(m.Destination.ToAddresses, []string{"ada@example.com"}) {
		t.Errorf("got the mail %+v", m)
	}
	tags := map[string]string{}
	for _, tag := range m.EmailTags {
		tags[tag.Name] = tag.Value
	}
	id, _ := record.NewImage["id"].(*types.AttributeValueMemberS)
	if want := map[string]string{"kind": "reset", "mail": id.Value}; !cmp.Equal(tags, want) {
		t.Errorf("got the tags %v, want %v", tags, want)
	}
	const link = "https://app.example.com/api/auth/page/reset#token=the-token"
	body := m.Content.Simple.Body
	if !strings.Contains(body.Text.Data, link) || !strings.Contains(body.HTML.Data, link) ||
		body.HTML.Charset != "UTF-8" || m.Content.Simple.Subject.Data != "Reset your password for Acme" {
		t.Errorf("got the content %+v", m.Content)
	}
	if log := f.log.String(); strings.Contains(log, "the-token") || strings.Contains(log, "ada@example.com") {
		t.Errorf("the log contains the token or the address:\n%s", log)
	}
}

// TestDroppedMails checks mails that are never sent. Their records are handled without an error.
func TestDroppedMails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	for name, change := range map[string]func(*mail.Message){
		"expired":                func(m *mail.Message) { m.ExpiresAt = startTime },
		"discarded":              func(m *mail.Message) { m.Discard = true },
		"with a header":          func(m *mail.Message) { m.To = "ada@example.com\r\nBcc: eve@example.com" },
		"with a name":            func(m *mail.Message) { m.To = "Eve <ada@example.com>" },
		"to two addresses":       func(m *mail.Message) { m.To = "ada@example.com, eve@example.com" },
		"with a NUL":             func(m *mail.Message) { m.To = "ada@example.com\x00" },
		"without an address":     func(m *mail.Message) { m.To = "ada" },
		"with a comment":         func(m *mail.Message) { m.To = "ada@example.com (eve@example.com)" },
		"in another line":        func(m *mail.Message) { m.To = "ada@example.com\n" },
		"to a quoted local part": func(m *mail.Message) { m.To = "\"a\r\n b\"@example.com" },
	} {
		m := message("ada@example.com")
		change(&m)
		f.handle(f.write(m))
		if calls := f.ses.calls; len(calls) != 0 {
			t.Errorf("a mail %s: SES got the calls %q", name, calls)
		}
	}
}

// TestErrorsOfSES checks that a mail is sent later unless SES rejected it.
func TestErrorsOfSES(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	for _, c := range []struct {
		status int
		code   string
		isLost bool
	}{
		{400, "MessageRejected", true},
		{400, "BadRequestException", true},
		{400, "SendingPausedException", false},
		{400, "AccountSuspendedException", false},
		{400, "MailFromDomainNotVerifiedException", false},
		{400, "LimitExceededException", false},
		{429, "TooManyRequestsException", false},
		{404, "NotFoundException", false}, // the configuration set
		{403, "AccessDeniedException", false},
		{500, "InternalServiceErrorException", false},
		{503, "", false},
	} {
		record := f.write(message("ada@example.com"))
		f.ses.mails = nil
		f.ses.fail(c.status, c.code)
		err := f.sender.Handle(t.Context(), record)
		if (err == nil) != c.isLost || lambdafn.IsPoison(err) {
			t.Errorf("%s: got the error %v, lost %v", c.code, err, c.isLost)
		}
		f.ses.fail(0, "")
		f.handle(record) // at once: the claim has ended
		if got := len(f.ses.sent()); (got == 0) != c.isLost || got > 1 {
			t.Errorf("%s: SES got %d mails afterwards, lost: %v", c.code, got, c.isLost)
		}
	}
}

// TestPausedAccount checks that a mail with a link expires while SES accepts no mails, and that a notice waits.
func TestPausedAccount(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	link := f.write(message("ada@example.com"))
	notice := f.write(mail.Message{Kind: mail.PasswordChanged, To: "grace@example.com", Username: "grace"})
	f.ses.fail(400, "SendingPausedException")
	for _, record := range []lambdafn.StreamRecord{link, notice} {
		if err := f.sender.Handle(t.Context(), record); err == nil {
			t.Fatal("got no error while the account is paused")
		}
	}
	f.clock.Advance(12 * time.Hour)
	f.ses.fail(0, "")
	f.handle(link)
	f.handle(notice)
	if got := f.ses.sent(); !slices.Equal(got, []string{"grace@example.com"}) {
		t.Errorf("SES got mails to %q, want only the notice to grace", got)
	}
}

// TestKilledSender checks that a mail is sent if the process is killed at any call, and that only a kill between the
// mail and its record sends it twice.
func TestKilledSender(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 10_000)
	twice := 0
	slicetest.Steps(t, 5, func(p *slicetest.Process) {
		p.At = slicetest.Kill
		f.ses.mails = nil
		m := message("ada@example.com")
		m.ExpiresAt = f.clock.Now().Add(time.Hour)
		record := f.write(m)
		_ = f.newSender(10_000, p).Handle(t.Context(), record)
		afterKill := len(f.ses.mails)
		if err := f.sender.Handle(t.Context(), record); err != nil { // the claim of the dead process
			f.clock.Advance(time.Minute)
			f.handle(record)
		}
		switch got := len(f.ses.mails); {
		case got == 0, got > 2, got == 2 && afterKill == 0:
			t.Errorf("killed at step %d: SES got %d mails, %d before the kill", p.Step, got, afterKill)
		case got == 2:
			twice++
		}
	})
	if twice == 0 || twice > 4 {
		t.Errorf("%d kills sent a mail twice, want 1 to 4: the kills after SES has accepted the mail", twice)
	}
}

// TestConcurrentSenders checks that two invocations with the same record send one mail.
func TestConcurrentSenders(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	record := f.write(message("ada@example.com"))
	slicetest.CountCodes(8, func(int) error { return f.sender.Handle(t.Context(), record) })
	if got := f.ses.sent(); len(got) != 1 {
		t.Errorf("SES got mails to %q, want one", got)
	}
}

// TestPoisonMail checks that a mail that cannot be read does not keep the next mail from being sent.
func TestPoisonMail(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	damaged, good := f.write(message("a@example.com")), f.write(message("c@example.com"))
	unknown, state := message("b@example.com"), f.write(message("d@example.com"))
	damaged.NewImage["sealed"] = &types.AttributeValueMemberB{Value: []byte("damaged")}
	unknown.Kind = "unknown"
	accounts := f.client(nil).Table(f.tables.Accounts)
	write := accounts.Put(db.MailStateKey("d@example.com"), map[string]string{"undeliverableSince": "yesterday"})
	if _, err := f.client(nil).Do(t.Context(), write); err != nil {
		t.Fatal(err)
	}
	for name, record := range map[string]lambdafn.StreamRecord{
		"damaged": damaged, "unknown kind": f.write(unknown), "damaged state of the address": state,
	} {
		if err := f.sender.Handle(t.Context(), record); !errors.Is(err, lambdafn.ErrPoison) {
			t.Errorf("%s: got the error %v, want ErrPoison", name, err)
		}
	}
	f.handle(good)
	if got := f.ses.sent(); !slices.Equal(got, []string{"c@example.com"}) {
		t.Errorf("SES got mails to %q", got)
	}
}

// TestLimitOfTheService checks that mails beyond the limit wait until the next hour, and that failures do not count.
func TestLimitOfTheService(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2)
	f.ses.fail(429, "TooManyRequestsException")
	for range 5 {
		if err := f.sender.Handle(t.Context(), f.write(message("x@example.com"))); errors.Is(err, limit.ErrTooMany) {
			t.Fatalf("a mail that was not sent counts: %v", err)
		}
	}
	f.ses.fail(0, "")
	var waiting lambdafn.StreamRecord
	for i := range 3 {
		m := message(fmt.Sprintf("%d@example.com", i))
		m.ExpiresAt = startTime.Add(2 * time.Hour)
		waiting = f.write(m)
		if err := f.sender.Handle(t.Context(), waiting); errors.Is(err, limit.ErrTooMany) != (i == 2) {
			t.Errorf("mail %d: got the error %v", i, err)
		}
	}
	if log := f.log.String(); !strings.Contains(log, "MailsLimited") {
		t.Errorf("the log has no metric MailsLimited:\n%s", log)
	}
	f.clock.Advance(time.Hour)
	f.handle(waiting)
	if got := f.ses.sent(); !slices.Equal(got, []string{"0@example.com", "1@example.com", "2@example.com"}) {
		t.Errorf("SES got mails to %q", got)
	}
}

// event returns a message with an event of SES.
func event(kind, details, address string) lambdafn.QueueMessage {
	return lambdafn.QueueMessage{ID: "1", SentAt: startTime, Body: fmt.Sprintf(
		`{"source":"aws.ses","detail":{"eventType":%q,%s"mail":{"messageId":"0100","destination":[%q],"tags":{"mail":["m"]}}}}`,
		kind, details, address)}
}

func TestEventsOfSES(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	const bounce = `"bounce":{"bounceType":%q,"bounceSubType":"General"},`
	for _, c := range []struct {
		name, kind, details string
		stops               bool
	}{
		{"permanent", "Bounce", fmt.Sprintf(bounce, "Permanent"), true},
		{"transient", "Bounce", fmt.Sprintf(bounce, "Transient"), false},
		{"undetermined", "Bounce", fmt.Sprintf(bounce, "Undetermined"), false},
		{"complaint", "Complaint", `"complaint":{},`, true},
		{"delay", "DeliveryDelay", `"deliveryDelay":{"delayType":"MailboxFull"},`, false},
	} {
		address := c.name + "@example.com"
		for range 2 { // SQS can send a message twice
			report := event(c.kind, c.details, strings.ToUpper(address))
			errs := f.sender.HandleEvents(t.Context(), []lambdafn.QueueMessage{report})
			if !cmp.Equal(errs, []error{nil}) {
				t.Fatalf("%s: got the errors %v", c.name, errs)
			}
			f.clock.Advance(time.Second)
		}
		item, err := f.client(nil).Table(f.tables.Accounts).Get(t.Context(), db.MailStateKey(address))
		if err != nil && !errors.Is(err, db.ErrNotFound) {
			t.Fatal(err)
		}
		state, err := db.Decode[mail.AddressState](item)
		if err != nil || (state.UndeliverableSince != nil) != c.stops {
			t.Errorf("%s: got the state %+v and the error %v", c.name, state, err)
		}
		if c.stops && !state.UndeliverableSince.Equal(clock.Stamp(startTime)) {
			t.Errorf("%s: mail does not arrive since %v, want the time of the first event", c.name, state.UndeliverableSince)
		}
		f.ses.mails = nil
		f.handle(f.write(message(address)))
		if got := len(f.ses.sent()); (got == 0) != c.stops {
			t.Errorf("%s: SES got %d mails afterwards", c.name, got)
		}
	}
	for _, body := range []string{"", "{}", `{"detail":{"eventType":"Open","mail":{"destination":["a@example.com"]}}}`} {
		if errs := f.sender.HandleEvents(t.Context(), []lambdafn.QueueMessage{{Body: body}}); errs[0] == nil {
			t.Errorf("HandleEvents accepted %q", body)
		}
	}
}

// TestUndeliverableAddressIsTriedOnceADay checks the mails that are sent although mail does not arrive at the address.
func TestUndeliverableAddressIsTriedOnceADay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	f.sender.HandleEvents(t.Context(), []lambdafn.QueueMessage{event("Complaint", "", "ada@example.com")})
	try := func() {
		m := message("ada@example.com")
		m.Kind, m.TryUndeliverable, m.ExpiresAt = mail.Confirm, true, f.clock.Now().Add(time.Hour)
		record := f.write(m)
		f.ses.fail(503, "")
		_ = f.sender.Handle(t.Context(), record) // does not use up the attempt of the day
		f.ses.fail(0, "")
		f.handle(record)
	}
	for _, wait := range []time.Duration{0, time.Hour, 22 * time.Hour} {
		f.clock.Advance(wait)
		try()
		if got := f.ses.sent(); len(got) != 1 {
			t.Fatalf("after %v, SES got %d mails, want one", wait, len(got))
		}
	}
	if want := "unsuppress ada@example.com"; f.ses.calls[0] != want {
		t.Errorf("the first call is %q, want %q", f.ses.calls[0], want)
	}
	f.clock.Advance(2 * time.Hour)
	try()
	if got := f.ses.sent(); len(got) != 2 {
		t.Errorf("on the next day, SES got %d mails, want a second one", len(got))
	}
}

// TestRejectedAddressBlocksNoOtherMail checks a mail to an address that SES does not remove from its suppression list.
// It must not keep other mails from being sent.
func TestRejectedAddressBlocksNoOtherMail(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	f.ses.rejected = "ada/b@example.com"
	f.sender.HandleEvents(t.Context(), []lambdafn.QueueMessage{event("Complaint", "", f.ses.rejected)})
	m := message(f.ses.rejected)
	m.TryUndeliverable = true
	f.handle(f.write(m))
	if got := f.ses.sent(); len(got) != 0 {
		t.Errorf("SES got mails to %q", got)
	}
}

// TestFunctionHandlesBothSources checks that a handler of the stream passes events of SES on.
func TestFunctionHandlesBothSources(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 100)
	logger := slog.New(f.log)
	handler := lambdafn.Stream(logger, f.sender.Handle, nil).WithQueue(lambdafn.Queue(logger, f.sender.HandleEvents))
	payload := fmt.Sprintf(`{"Records":[{"messageId":"1","eventSource":"aws:sqs","attributes":{},"body":%q}]}`,
		event("Complaint", "", "ada@example.com").Body)
	out, err := handler.Invoke(t.Context(), []byte(payload))
	if err != nil || string(out) != `{"batchItemFailures":[]}` {
		t.Fatalf("got %s and the error %v", out, err)
	}
	f.handle(f.write(message("ada@example.com")))
	if got := f.ses.sent(); len(got) != 0 {
		t.Errorf("SES got mails to %q after a complaint", got)
	}
}

func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"reset", "/reset#token", "/re set"} {
		var d sender.Deps
		f := newFixture(t, 1)
		d.DB, d.Clock, d.Settings.Texts.ResetPath = f.client(nil), f.clock.Now, path
		if _, err := sender.New(d); err == nil {
			t.Errorf("New accepted the path %q", path)
		}
	}
}
