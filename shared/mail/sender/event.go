package sender

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"devplatform/shared/lambdafn"
)

// sesEvent is an event of SES about a mail, as EventBridge sends it
// (https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html).
type sesEvent struct {
	Detail struct {
		EventType string `json:"eventType"` // Bounce, Complaint or DeliveryDelay
		Bounce    struct {
			Type    string `json:"bounceType"` // Permanent, Transient or Undetermined
			Subtype string `json:"bounceSubType"`
		} `json:"bounce"`
		Delay struct {
			Type string `json:"delayType"`
		} `json:"deliveryDelay"`
		Mail struct {
			MessageID   string              `json:"messageId"`
			Destination []string            `json:"destination"` // the address in the mail, before others forwarded it
			Tags        map[string][]string `json:"tags"`
		} `json:"mail"`
	} `json:"detail"`
}

// errNotEvent does not contain the decoder's error, because it may contain an address.
var errNotEvent = errors.New("sender: not an event of SES about a mail")

// HandleEvents handles events of SES. A permanent bounce or a complaint stops mail to the address. HandleEvents returns
// the error of each message, or nil. SQS sends a message with an error again.
func (s *Sender) HandleEvents(ctx context.Context, messages []lambdafn.QueueMessage) []error {
	errs := make([]error, len(messages))
	for i, message := range messages {
		errs[i] = s.handleEvent(ctx, message)
	}
	return errs
}

func (s *Sender) handleEvent(ctx context.Context, message lambdafn.QueueMessage) error {
	var event sesEvent
	if err := json.Unmarshal([]byte(message.Body), &event); err != nil || len(event.Detail.Mail.Destination) == 0 {
		return errNotEvent
	}
	detail := event.Detail
	log := s.logger.With("mail", detail.Mail.Tags["mail"], "kind", detail.Mail.Tags["kind"],
		"messageId", detail.Mail.MessageID)
	switch detail.EventType {
	case "Bounce":
		log.InfoContext(ctx, "a mail bounced", "type", detail.Bounce.Type, "subtype", detail.Bounce.Subtype)
		s.count(ctx, metricBounced)
		if detail.Bounce.Type != "Permanent" { // for example, the mailbox is full
			return nil
		}
	case "Complaint":
		log.InfoContext(ctx, "the recipient of a mail complained")
		s.count(ctx, metricComplained)
	case "DeliveryDelay":
		log.InfoContext(ctx, "a mail is delayed", "type", detail.Delay.Type)
		return nil
	default:
		return errNotEvent
	}
	for _, address := range detail.Mail.Destination {
		if err := s.store.setUndeliverable(ctx, address, message.SentAt); err != nil {
			return err
		}
	}
	return nil
}
