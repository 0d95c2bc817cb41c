// Command operator is for the people who operate the service: it finds accounts, suspends and deletes them, and blocks
// sites. Each act is in the audit log, and in the activity of the user. infra/RUNBOOK.md has the procedures.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/term"

	"devplatform/infra/operator/audit"
	"devplatform/infra/operator/suspension"
	"devplatform/infra/operator/takedown"
	"devplatform/shared/account/activity"
	"devplatform/shared/account/deletion"
	"devplatform/shared/account/mailtoken"
	"devplatform/shared/account/user"
	"devplatform/shared/awsclient"
	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/id"
	"devplatform/shared/mail"
	"devplatform/shared/workspace"
)

// settings are the environment variables of the command. The defaults are the names on the local platform. The stack's
// output OperatorSettings has their values on AWS.
type settings struct {
	AWS           config.AWS
	Accounts      string `env:"ACCOUNTS_TABLE" envDefault:"local-AccountsTable"`
	Projects      string `env:"PROJECTS_TABLE" envDefault:"local-ProjectsTable"`
	Mails         string `env:"MAIL_TABLE" envDefault:"local-MailTable"`
	Conversations string `env:"CONVERSATIONS_TABLE" envDefault:"local-ConversationsTable"`
	Webhooks      string `env:"WEBHOOKS_TABLE" envDefault:"local-WebhooksTable"`
	Sites         string `env:"SITES_TABLE" envDefault:"local-SitesTable"`
	Audit         string `env:"AUDIT_TABLE" envDefault:"local-AuditTable"`
	Keys          string `env:"KEYS_SECRET" envDefault:"local-KeysSecret"`
	Mail          mail.Settings
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) < 2 {
		return errors.New("no command\n\n" + usage())
	}
	cfg, err := config.Load[settings]()
	if err != nil {
		return err
	}
	if err := cfg.complete(); err != nil {
		return err
	}
	by, err := identify(ctx, cfg.AWS)
	if err != nil {
		return err
	}
	s := streams{in: os.Stdin, isTerminal: term.IsTerminal(int(os.Stdin.Fd())), out: os.Stdout}
	return newOperator(cfg, by, clock.System, s).run(ctx, os.Args[1:])
}

// complete sets the credentials of the local platform, and checks the credentials of AWS.
func (s *settings) complete() error {
	switch {
	case s.AWS.AccessKeyID != "":
	case s.AWS.Endpoint != "":
		s.AWS.AccessKeyID, s.AWS.SecretAccessKey = "local", "local"
		s.Mail.From = cmp.Or(s.Mail.From, "no-reply@example.com") // only whether there is one matters here
	default:
		return errors.New(`no credentials: run eval "$(aws configure export-credentials --format env)", ` +
			"or set AWS_ENDPOINT_URL to the local platform, such as http://127.0.0.1:4566")
	}
	if s.AWS.Endpoint == "" && s.Accounts == "local-AccountsTable" {
		return errors.New("the names of the tables are missing: set the variables in the stack's output OperatorSettings")
	}
	return nil
}

// operator contains the settings and dependencies of the commands.
type operator struct {
	settings
	streams
	sdk         *dynamodb.Client
	db          *db.Client
	keys        *config.Keys
	now         clock.Clock
	users       user.Store
	access      workspace.Access
	audit       audit.Log
	activity    *activity.Log
	suspensions *suspension.Service
	takedowns   takedown.Store
	outbox      *mail.Outbox
	tokens      *mailtoken.Store
	mails       mailtoken.Mails
	accounts    *deletion.Service
}

func newOperator(cfg settings, by audit.Operator, now clock.Clock, io streams) *operator {
	sdk := dynamodb.New(dynamodb.Options{
		Region:       cfg.AWS.Region,
		Credentials:  awsclient.Credentials(cfg.AWS),
		BaseEndpoint: awsclient.Endpoint(cfg.AWS.DynamoDBEndpoint, cfg.AWS.Endpoint),
		HTTPClient:   awsclient.HTTP(),
		Retryer:      awsclient.Retryer(),
	})
	client, ids := db.Wrap(sdk, now), id.NewGenerator(now, rand.Reader)
	keys := config.NewSecrets(cfg.AWS, config.Metrics{}, now, slog.New(slog.NewTextHandler(os.Stderr, nil))).Keys(cfg.Keys)
	tables := config.Tables{Accounts: cfg.Accounts, Projects: cfg.Projects, Mail: cfg.Mails}
	accounts, projects := client.Table(cfg.Accounts), client.Table(cfg.Projects)
	o := &operator{
		settings: cfg, streams: io, sdk: sdk, db: client, keys: keys, now: now, users: user.NewStore(client, tables),
		access: workspace.Access{Projects: projects}, activity: activity.New(client, accounts, now),
		audit: audit.Log{
			Table: client.Table(cfg.Audit), Name: cfg.Audit, SDK: sdk, Operator: by, IDs: ids, Clock: now,
		},
		suspensions: suspension.New(client, tables, cfg.Webhooks, now),
		takedowns:   takedown.Store{DB: client, Projects: projects, Sites: client.Table(cfg.Sites)},
		outbox:      mail.NewOutbox(client, tables, keys, ids, now, cfg.Mail),
		tokens:      mailtoken.NewStore(client, accounts, keys, now),
	}
	o.mails = mailtoken.Mails{Outbox: o.outbox, Tokens: o.tokens, Users: o.users}
	o.accounts = deletion.New(deletion.Deps{
		DB: client, Accounts: accounts, Projects: projects, Users: o.users, Mails: o.mails, Activity: o.activity, Clock: now,
	})
	return o
}
