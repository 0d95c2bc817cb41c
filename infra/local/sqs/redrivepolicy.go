package sqs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// redrivePolicy says where a queue gives up messages to, and when.
type redrivePolicy struct {
	Target      string `json:"deadLetterTargetArn"`
	MaxReceives int64  `json:"maxReceiveCount"`
}

// String is the policy as AWS shows it; "" of nil.
func (p *redrivePolicy) String() string {
	if p == nil {
		return ""
	}
	return policyText(p)
}

// redriveAllowPolicy says which queues may give up messages to a queue.
type redriveAllowPolicy struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns,omitempty"`
}

// String is the policy as AWS shows it; "" of nil.
func (p *redriveAllowPolicy) String() string {
	if p == nil {
		return ""
	}
	return policyText(p)
}

func policyText(policy any) string {
	text, err := json.Marshal(policy)
	if err != nil {
		panic(fmt.Sprintf("sqs: encoding %T: %v", policy, err)) // strings and numbers only
	}
	return string(text)
}

// AWS's words and bounds.
const (
	mostReceives     = 1000
	mostSources      = 10
	permitAll        = "allowAll"
	permitNone       = "denyAll"
	permitByQueue    = "byQueue"
	parameterRedrive = "RedrivePolicy"
	parameterAllow   = "RedriveAllowPolicy"
)

func setRedrivePolicy(s *Store, owner string, to *settings, value string) error {
	if isEmptyPolicy(value) {
		to.Redrive = nil
		return nil
	}
	refused := func(reason string) error { return invalidValue(value, parameterRedrive, reason) }
	var given struct {
		Target      *string        `json:"deadLetterTargetArn"`
		MaxReceives jsontext.Value `json:"maxReceiveCount"`
	}
	if err := json.Unmarshal([]byte(value), &given); err != nil {
		return refused("Redrive policy is not a valid JSON map.")
	}
	if given.Target == nil {
		return refused("Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	}
	if given.MaxReceives == nil {
		return refused("Redrive policy does not contain mandatory attribute: maxReceiveCount.")
	}
	text := strings.Trim(string(given.MaxReceives), `"`) // AWS takes a number in a string, too
	receives, err := strconv.ParseInt(text, 10, 64)
	if err != nil || receives < 1 || receives > mostReceives {
		return refused("Invalid value for maxReceiveCount: " + text + ", valid values are from 1 to 1000 both inclusive.")
	}
	if err := s.checkTarget(owner, *given.Target, refused); err != nil {
		return err
	}
	to.Redrive = &redrivePolicy{Target: *given.Target, MaxReceives: receives}
	return nil
}

// checkTarget makes sure that a dead-letter queue is one and takes messages from the owner.
func (s *Store) checkTarget(owner, target string, refused func(reason string) error) error {
	const arnParts = 6
	parts := strings.Split(target, ":")
	if len(parts) != arnParts || parts[0] != "arn" || parts[2] != "sqs" || parts[arnParts-1] == "" {
		return refused("Invalid value for deadLetterTargetArn.")
	}
	if target == s.arn(owner) {
		return nil // AWS lets a queue be its own
	}
	q := s.queueOf(target)
	if q == nil {
		return refused("Dead letter target does not exist.")
	}
	if allow := q.Settings.RedriveAllow; allow != nil && !allow.permits(s.arn(owner)) {
		return refused("Dead letter target does not allow this queue to use it: see its RedriveAllowPolicy.")
	}
	return nil
}

func (p *redriveAllowPolicy) permits(source string) bool {
	switch p.Permission {
	case permitAll:
		return true
	case permitByQueue:
		return slices.Contains(p.Sources, source)
	default:
		return false
	}
}

func setRedriveAllowPolicy(_ *Store, _ string, to *settings, value string) error {
	if isEmptyPolicy(value) {
		to.RedriveAllow = nil
		return nil
	}
	refused := func(reason string) error { return invalidValue(value, parameterAllow, reason) }
	var policy redriveAllowPolicy
	if err := json.Unmarshal([]byte(value), &policy); err != nil {
		return refused("Redrive allow policy is not a valid JSON map.")
	}
	switch policy.Permission {
	case permitAll, permitNone:
		if len(policy.Sources) > 0 {
			return refused("sourceQueueArns can only be specified when redrivePermission is byQueue.")
		}
	case permitByQueue:
		if n := len(policy.Sources); n < 1 || n > mostSources {
			return refused("sourceQueueArns must contain between 1 and 10 queue ARNs.")
		}
	case "":
		return refused("Redrive allow policy does not contain mandatory attribute: redrivePermission.")
	default:
		return refused("Invalid value for redrivePermission: " + policy.Permission + ", valid values are allowAll, denyAll and byQueue.")
	}
	to.RedriveAllow = &policy
	return nil
}

// isEmptyPolicy says whether a value takes a policy away.
func isEmptyPolicy(value string) bool {
	var members map[string]jsontext.Value
	value = strings.TrimSpace(value)
	return value == "" || strings.HasPrefix(value, "{") && json.Unmarshal([]byte(value), &members) == nil && len(members) == 0
}
