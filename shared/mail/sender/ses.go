package sender

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"

	"devplatform/shared/awsclient"
	"devplatform/shared/config"
	"devplatform/shared/mail/render"
)

// errRejected reports that SES does not accept a mail. A retry fails too. After any other error of SES, a retry may
// succeed: SES throttles or is down, the account is paused, or a setting of the account is wrong.
var errRejected = errors.New("sender: SES rejected the mail")

// sesClient sends mails through Amazon SES. This file is the only one that uses SES.
type sesClient struct {
	sdk              *sesv2.Client
	from             string // the name and the address of the sender
	configurationSet string
}

// NewSES returns a client of SES, configured by Lambda's environment. It does not access the network.
func NewSES(cfg config.AWS) *sesv2.Client {
	return sesv2.New(sesv2.Options{
		Region:       cfg.Region,
		Credentials:  awsclient.Credentials(cfg),
		BaseEndpoint: awsclient.Endpoint(cfg.SESEndpoint, cfg.Endpoint),
		HTTPClient:   awsclient.TransferHTTP(), // a response that takes long must not cause a second mail
		Retryer:      awsclient.Retryer(),
	})
}

// send sends a mail and returns the ID that SES gave it. Errors: errRejected, or an error after which a retry may
// succeed. SES may have sent the mail although the response was lost.
func (s sesClient) send(ctx context.Context, mailID, to string, m render.Mail) (messageID string, err error) {
	text := func(data string) *types.Content { return &types.Content{Data: &data, Charset: aws.String("UTF-8")} }
	out, err := s.sdk.SendEmail(ctx, &sesv2.SendEmailInput{
		FromEmailAddress: &s.from, ConfigurationSetName: &s.configurationSet,
		Destination: &types.Destination{ToAddresses: []string{to}},
		EmailTags: []types.MessageTag{
			{Name: aws.String("kind"), Value: aws.String(string(m.Kind))}, {Name: aws.String("mail"), Value: &mailID},
		},
		Content: &types.EmailContent{Simple: &types.Message{
			Subject: text(m.Subject), Body: &types.Body{Text: text(m.Text), Html: text(m.HTML)},
		}},
	})
	if err != nil {
		return "", classify("send", err)
	}
	return aws.ToString(out.MessageId), nil
}

// unsuppress removes an address from the account's suppression list: SES does not send to the addresses of the list.
func (s sesClient) unsuppress(ctx context.Context, address string) error {
	_, err := s.sdk.DeleteSuppressedDestination(ctx, &sesv2.DeleteSuppressedDestinationInput{EmailAddress: &address})
	if _, isMissing := errors.AsType[*types.NotFoundException](err); isMissing {
		return nil
	}
	return classify("unsuppress", err)
}

func classify(op string, err error) error {
	if err == nil {
		return nil
	}
	_, isRejected := errors.AsType[*types.MessageRejected](err)
	if _, isBad := errors.AsType[*types.BadRequestException](err); isRejected || isBad {
		return fmt.Errorf("%w: %s: %w", errRejected, op, err)
	}
	return fmt.Errorf("sender: %s: %w", op, err)
}
