// Command mailer is the Lambda function that reads the stream of mails and sends each mail. It also reads the events of
// Amazon SES about mails that did not arrive.
package main

import (
	"log/slog"

	"devplatform/shared/clock"
	"devplatform/shared/config"
	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
	"devplatform/shared/mail/sender"
	"devplatform/shared/metric"
	"devplatform/shared/queue"
)

func main() { lambdafn.Start(newHandler) }

// settings are the environment variables of the function.
type settings struct {
	AWS      config.AWS
	Metrics  config.Metrics
	Mails    string `env:"MAIL_TABLE,required,notEmpty"`
	Accounts string `env:"ACCOUNTS_TABLE,required,notEmpty"`
	// Keys is the name or ARN of the secret with the key ring.
	Keys string `env:"KEYS_SECRET,required,notEmpty"`
	// Failures is the URL of the queue for stream records that cannot be processed.
	Failures string `env:"FAILURES_QUEUE,required,notEmpty"`
	Mail     sender.Settings
}

// newHandler builds the function's handler. It returns an error if a setting is invalid. It fetches the key ring in the
// background, while the function waits for its first records.
func newHandler(cfg settings, now clock.Clock, logger *slog.Logger) (*lambdafn.StreamHandler, error) {
	client := db.New(cfg.AWS, now)
	s, err := sender.New(sender.Deps{
		DB: client, SES: sender.NewSES(cfg.AWS), Mails: client.Table(cfg.Mails), Accounts: client.Table(cfg.Accounts),
		Keys:  config.NewSecrets(cfg.AWS, cfg.Metrics, now, logger).Keys(cfg.Keys),
		Clock: now, Logger: logger, Metrics: metric.New(logger, cfg.Metrics.Namespace, now), Settings: cfg.Mail,
	})
	if err != nil {
		return nil, err
	}
	handler := lambdafn.Stream(logger, s.Handle, queue.New(cfg.AWS).Queue(cfg.Failures).Poison)
	return handler.WithQueue(lambdafn.Queue(logger, s.HandleEvents)), nil
}
