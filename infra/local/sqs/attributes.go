package sqs

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// settings are the attributes of a queue that its owner sets. Times are in seconds.
type settings struct {
	VisibilityTimeout  int64               `json:"visibilityTimeout"`
	MaximumMessageSize int64               `json:"maximumMessageSize"` // bytes
	Retention          int64               `json:"retention"`
	Delay              int64               `json:"delay"`
	Wait               int64               `json:"wait"` // of receives that don't say
	Policy             string              `json:"policy,omitzero"`
	Redrive            *redrivePolicy      `json:"redrive,omitzero"`
	RedriveAllow       *redriveAllowPolicy `json:"redriveAllow,omitzero"`
	KMSKey             string              `json:"kmsKey,omitzero"`
	KMSReuse           int64               `json:"kmsReuse"`
	ManagedSSE         bool                `json:"managedSSE"`
}

// Limits of AWS.
const (
	maxMessageBytes     = 1 << 20
	minMessageBytes     = 1 << 10
	maxVisibility       = 43_200
	maxDelay            = 900
	maxWait             = 20
	minRetention        = 60
	maxRetention        = 1_209_600
	minKMSReuse         = 60
	maxKMSReuse         = 86_400
	defaultVisibility   = 30
	defaultRetention    = 345_600
	defaultKMSReuse     = 300
	millisecondsOf      = 1000 // a second
	attributeAll        = "All"
	attributeManagedSSE = "SqsManagedSseEnabled"
	attributeKMSKey     = "KmsMasterKeyId"
)

func defaultSettings() settings {
	return settings{
		VisibilityTimeout: defaultVisibility, MaximumMessageSize: maxMessageBytes, Retention: defaultRetention,
		KMSReuse: defaultKMSReuse, ManagedSSE: true,
	}
}

// attribute is one attribute of queues.
type attribute struct {
	// get is its value; "" where the queue has none.
	get func(*Store, *queue) string
	// set is nil for what only the service sets. owner is the queue's name.
	set func(s *Store, owner string, to *settings, value string) error
}

// attributes are those of standard queues. It is filled at start as its members use it.
var attributes map[string]attribute

func init() {
	attributes = map[string]attribute{
		"VisibilityTimeout":             number("VisibilityTimeout", 0, maxVisibility, func(to *settings) *int64 { return &to.VisibilityTimeout }),
		"MaximumMessageSize":            number("MaximumMessageSize", minMessageBytes, maxMessageBytes, func(to *settings) *int64 { return &to.MaximumMessageSize }),
		"MessageRetentionPeriod":        number("MessageRetentionPeriod", minRetention, maxRetention, func(to *settings) *int64 { return &to.Retention }),
		"DelaySeconds":                  number("DelaySeconds", 0, maxDelay, func(to *settings) *int64 { return &to.Delay }),
		"ReceiveMessageWaitTimeSeconds": number("ReceiveMessageWaitTimeSeconds", 0, maxWait, func(to *settings) *int64 { return &to.Wait }),
		"KmsDataKeyReusePeriodSeconds":  kmsReuse(),
		attributeKMSKey:                 {get: func(_ *Store, q *queue) string { return q.Settings.KMSKey }, set: setKMSKey},
		attributeManagedSSE:             {get: func(_ *Store, q *queue) string { return strconv.FormatBool(q.Settings.ManagedSSE) }, set: setManagedSSE},
		"Policy":                        {get: func(_ *Store, q *queue) string { return q.Settings.Policy }, set: setPolicy},
		"RedrivePolicy":                 {get: func(_ *Store, q *queue) string { return q.Settings.Redrive.String() }, set: setRedrivePolicy},
		"RedriveAllowPolicy":            {get: func(_ *Store, q *queue) string { return q.Settings.RedriveAllow.String() }, set: setRedriveAllowPolicy},
		"QueueArn":                      {get: func(s *Store, q *queue) string { return s.arn(q.Name) }},
		"CreatedTimestamp":              count(func(q *queue) int64 { return q.Created }),
		"LastModifiedTimestamp":         count(func(q *queue) int64 { return q.Modified }),

		"ApproximateNumberOfMessages":           count(func(q *queue) int64 { return int64(q.visible) }),
		"ApproximateNumberOfMessagesNotVisible": count(func(q *queue) int64 { return int64(q.inFlight) }),
		"ApproximateNumberOfMessagesDelayed":    count(func(q *queue) int64 { return int64(q.delayed()) }),
	}
}

// fifoAttributes are those that a standard queue doesn't have.
var fifoAttributes = map[string]bool{
	"FifoQueue": true, "ContentBasedDeduplication": true, "DeduplicationScope": true, "FifoThroughputLimit": true,
}

// number is an attribute in a range of whole numbers.
func number(name string, least, most int64, field func(*settings) *int64) attribute {
	return attribute{
		get: func(_ *Store, q *queue) string { return strconv.FormatInt(*field(&q.Settings), 10) },
		set: func(_ *Store, _ string, to *settings, value string) error {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < least || n > most {
				return invalidAttribute(name)
			}
			*field(to) = n
			return nil
		},
	}
}

func count(of func(*queue) int64) attribute {
	return attribute{get: func(_ *Store, q *queue) string { return strconv.FormatInt(of(q), 10) }}
}

// kmsReuse only shows where there is a key.
func kmsReuse() attribute {
	reuse := number("KmsDataKeyReusePeriodSeconds", minKMSReuse, maxKMSReuse, func(to *settings) *int64 { return &to.KMSReuse })
	always := reuse.get
	reuse.get = func(s *Store, q *queue) string {
		if q.Settings.KMSKey == "" {
			return ""
		}
		return always(s, q)
	}
	return reuse
}

func setKMSKey(_ *Store, _ string, to *settings, value string) error {
	if to.KMSKey = value; value != "" {
		to.ManagedSSE = false
	}
	return nil
}

func setManagedSSE(_ *Store, _ string, to *settings, value string) error {
	enabled, err := strconv.ParseBool(value)
	if err != nil {
		return invalidAttribute(attributeManagedSSE)
	}
	if to.ManagedSSE = enabled; enabled {
		to.KMSKey = ""
	}
	return nil
}

// setPolicy keeps the text as it was given; it must be a JSON object.
func setPolicy(_ *Store, _ string, to *settings, value string) error {
	var object map[string]jsontext.Value
	if value != "" && (json.Unmarshal([]byte(value), &object) != nil || object == nil) {
		return invalidAttribute("Policy")
	}
	to.Policy = value
	return nil
}

// set applies attributes in the order of their names.
func (s *Store) set(owner string, to *settings, values map[string]string) error {
	if values[attributeKMSKey] != "" && values[attributeManagedSSE] == "true" {
		return refuse(typeAttributeName, "You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		a, ok := attributes[name]
		if !ok || a.set == nil {
			return unknownAttribute(name)
		}
		if err := a.set(s, owner, to, values[name]); err != nil {
			return err
		}
	}
	return nil
}

type getQueueAttributesInput struct {
	QueueURL       string   `json:"QueueUrl"`
	AttributeNames []string `json:"AttributeNames"`
}

type getQueueAttributesOutput struct {
	Attributes map[string]string `json:"Attributes,omitempty"`
}

func (s *Store) getQueueAttributes(_ call, in *getQueueAttributesInput) (*getQueueAttributesOutput, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q, err := s.queueAt(in.QueueURL)
	if err != nil {
		return nil, err
	}
	for _, name := range in.AttributeNames {
		if _, ok := attributes[name]; !ok && name != attributeAll && !fifoAttributes[name] {
			return nil, unknownAttribute(name)
		}
	}
	if err := s.advance(q); err != nil {
		return nil, err
	}
	out := &getQueueAttributesOutput{Attributes: map[string]string{}}
	all := slices.Contains(in.AttributeNames, attributeAll)
	for name, a := range attributes {
		if !all && !slices.Contains(in.AttributeNames, name) {
			continue
		}
		if value := a.get(s, q); value != "" {
			out.Attributes[name] = value
		}
	}
	return out, nil
}

type setQueueAttributesInput struct {
	QueueURL   string            `json:"QueueUrl"`
	Attributes map[string]string `json:"Attributes"`
}

func (s *Store) setQueueAttributes(_ call, in *setQueueAttributesInput) (*nothing, error) {
	if in.Attributes == nil {
		return nil, missing("Attributes")
	}
	return &nothing{}, s.update(in.QueueURL, func(record *queueRecord) error {
		record.Modified = s.now() / millisecondsOf
		return s.set(record.Name, &record.Settings, in.Attributes)
	})
}
