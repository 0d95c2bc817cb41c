package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/mailtest"
	"devplatform/infra/platformtest"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/mail"
)

// mailPath is the beginning of the paths of SES.
const mailPath = "/v2/email/"

// mailPermissions returns the permissions that a call of SES needs. A mail needs one for the identity of its sender,
// and one for the configuration set. It returns nil for other requests.
func mailPermissions(path string) []permission {
	const arn = "arn:AWS::Partition:ses:AWS::Region:AWS::AccountId:"
	switch call, isMail := strings.CutPrefix(path, mailPath); {
	case !isMail:
		return nil
	case call == "outbound-emails":
		return []permission{"ses:SendEmail " + arn + "identity/*", "ses:SendEmail " + arn + "configuration-set/AWS::StackName-mail"}
	default:
		return []permission{"ses:DeleteSuppressedDestination *"}
	}
}

// ses serves the calls of SES.
func (w *watched) ses(rw http.ResponseWriter) {
	rw.Header().Set("Content-Type", "application/json")
	_, err := rw.Write([]byte(`{"MessageId":"0100"}`))
	must(w.t, err)
}

// mails makes mailer send a mail, handle a bounce, and try the address of the bounce again.
func (w *watched) mails() {
	w.t.Helper()
	const address = "gone@example.com"
	w.sendMail(mail.Message{Kind: mail.PasswordChanged, To: "ada@example.com", Username: "ada"})
	w.waitFor(map[string][]permission{"MailerFunction": mailPermissions(mailPath + "outbound-emails")})
	bounce := `{"detail":{"eventType":"Bounce","bounce":{"bounceType":"Permanent"},"mail":{"destination":["` + address + `"]}}}`
	w.run("MailerFunction", strings.Replace(queueEvent, `"?"`, strconv.Quote(bounce), 1))
	w.sendMail(mail.Message{Kind: mail.Confirm, To: address, Username: "ada", Token: "token", TryUndeliverable: true})
	w.waitFor(map[string][]permission{"MailerFunction": mailPermissions(mailPath + "suppression")})
}

// addresses uses the links of all kinds of mails about addresses and passwords.
func (w *watched) addresses() {
	w.t.Helper()
	bob := platformtest.NewClient(w.t, w.url)
	bob.SignUp("bob")
	use := func(path string, kind mail.Kind, password string) {
		body := fmt.Sprintf(`{"token":%q}`, w.lastToken(kind))
		if password != "" {
			body = fmt.Sprintf(`{"token":%q,"password":%q}`, w.lastToken(kind), password)
		}
		bob.Do("POST", "/api/auth/"+path, body).Want(w.t, http.StatusOK)
	}
	bob.Do("POST", "/api/auth/email/resend", "").Want(w.t, http.StatusAccepted)
	use("email/confirm", mail.Confirm, "")
	bob.Do("PUT", "/api/auth/email", `{"email":"bob@new.example.com"}`).Want(w.t, http.StatusAccepted)
	use("email/change", mail.Change, "")
	use("email/undo", mail.Undo, "")
	use("password/reset", mail.Reset, "correct horse battery 2")
	bob.Do("POST", "/api/auth/password/forgot", `{"email":"nobody@example.com"}`).Want(w.t, http.StatusAccepted)
	login := `{"email":"bob@example.com","password":"correct horse battery 2"}`
	bob.Do("POST", "/api/auth/login", login).Want(w.t, http.StatusOK)
	bob.Do("GET", "/api/auth/activity", "").Want(w.t, http.StatusOK)
}

// lastToken returns the token of the last mail of a kind.
func (w *watched) lastToken(kind mail.Kind) (token string) {
	w.t.Helper()
	for _, m := range mailtest.Stored(w.t, dynamotest.Client(w.services), w.mailTables().Mail, w.keyRing()) {
		if m.Kind == kind {
			token = m.Token
		}
	}
	return token
}

// mailTables returns the names of the tables with mails and with the states of addresses.
func (w *watched) mailTables() (tables config.Tables) {
	for _, t := range w.stack.Tables {
		switch t.LogicalID {
		case "MailTable":
			tables.Mail = t.Name
		case "AccountsTable":
			tables.Accounts = t.Name
		}
	}
	return tables
}

// keyRing returns the key ring of the functions.
func (w *watched) keyRing() *config.Keys {
	return config.NewKeys(func(ctx context.Context) (string, error) { return w.readSecret(ctx, "KeysSecret") }, time.Now)
}

// sendMail stores a mail as a function does.
func (w *watched) sendMail(m mail.Message) {
	w.t.Helper()
	client := db.Wrap(dynamotest.Client(w.services), time.Now)
	ids, settings := id.NewGenerator(time.Now, rand.Reader), mail.Settings{From: "a@b.example"}
	outbox := mail.NewOutbox(client, w.mailTables(), w.keyRing(), ids, time.Now, settings)
	write, err := outbox.Write(w.t.Context(), m)
	must(w.t, err)
	must(w.t, client.Tx(write).Commit(w.t.Context()))
}

// readSecret returns the value of a secret of the template.
func (w *watched) readSecret(ctx context.Context, logicalID string) (string, error) {
	for _, s := range w.stack.Secrets {
		if s.LogicalID == logicalID {
			out, err := w.secretsManager().GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &s.Name})
			if err != nil {
				return "", err
			}
			return *out.SecretString, nil
		}
	}
	return "", nil
}
