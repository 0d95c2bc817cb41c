package sqs

import (
	"maps"
	"unicode/utf8"
)

// AWS's limits of a queue's tags; keys and values in characters.
const (
	mostTags    = 50
	mostTagKey  = 128
	mostTagText = 256
)

func checkTags(queue string, tags map[string]string) error {
	if len(tags) > mostTags {
		return invalid("Too many tags added for queue %s.", queue)
	}
	for key, value := range tags {
		if n := utf8.RuneCountInString(key); n < 1 || n > mostTagKey {
			return invalid("Tag keys must be between 1 and 128 characters in length.")
		}
		if utf8.RuneCountInString(value) > mostTagText {
			return invalid("Tag values must be between 0 and 256 characters in length.")
		}
	}
	return nil
}

type tagQueueInput struct {
	QueueURL string            `json:"QueueUrl"`
	Tags     map[string]string `json:"Tags"`
}

func (s *Store) tagQueue(_ call, in *tagQueueInput) (*nothing, error) {
	return s.retag(in.QueueURL, len(in.Tags) == 0, "Tags", func(tags map[string]string) { maps.Copy(tags, in.Tags) })
}

type untagQueueInput struct {
	QueueURL string   `json:"QueueUrl"`
	TagKeys  []string `json:"TagKeys"`
}

func (s *Store) untagQueue(_ call, in *untagQueueInput) (*nothing, error) {
	return s.retag(in.QueueURL, len(in.TagKeys) == 0, "TagKeys", func(tags map[string]string) {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
	})
}

// retag changes a copy of a queue's tags.
func (s *Store) retag(address string, empty bool, parameter string, change func(map[string]string)) (*nothing, error) {
	return &nothing{}, s.update(address, func(record *queueRecord) error {
		if empty {
			return missing(parameter)
		}
		tags := maps.Clone(record.Tags)
		if tags == nil {
			tags = map[string]string{}
		}
		change(tags)
		record.Tags = tags
		return checkTags(record.Name, tags)
	})
}

type listQueueTagsOutput struct {
	Tags map[string]string `json:"Tags,omitempty"`
}

func (s *Store) listQueueTags(_ call, in *queueInput) (*listQueueTagsOutput, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	q, err := s.queueAt(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return &listQueueTagsOutput{q.Tags}, nil // never written to: a change is a copy
}
