package s3

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"devplatform/infra/local/datafolder"
)

// lifecycleConfiguration is the document of a bucket's lifecycle rules.
type lifecycleConfiguration struct {
	Rules   []lifecycleRule `xml:"Rule"`
	Unknown []anyElement    `xml:",any"`
}

type (
	// lifecycleRule removes the objects whose keys begin with a prefix.
	lifecycleRule struct {
		ID         string           `xml:",omitempty" json:"id,omitzero"`
		Status     string           `json:"status"` // Enabled or Disabled
		Filter     *lifecycleFilter `json:"filter,omitzero"`
		Expiration *expiration      `json:"expiration,omitzero"`
		Unknown    []anyElement     `xml:",any" json:"-"`
	}
	// lifecycleFilter selects the objects to which a rule applies.
	lifecycleFilter struct {
		Prefix  string       `xml:",omitempty" json:"prefix,omitzero"`
		Unknown []anyElement `xml:",any" json:"-"`
	}
	// expiration has the age in days at which an object is removed.
	expiration struct {
		Days    int          `json:"days"`
		Unknown []anyElement `xml:",any" json:"-"`
	}
)

const enabled = "Enabled"

func (c *lifecycleConfiguration) check() error {
	if len(c.Rules) == 0 || len(c.Rules) > 1000 {
		return errMalformedXML
	}
	for _, rule := range c.Rules {
		switch {
		case rule.Status != enabled && rule.Status != "Disabled", rule.Filter == nil:
			return errMalformedXML
		case rule.Expiration == nil:
			return errInvalidRequest.with("At least one action needs to be specified in a rule.")
		case rule.Expiration.Days < 1:
			return errInvalidArgument.with("The number of days of a lifecycle action must be a positive integer")
		}
	}
	return nil
}

func (s *Store) putLifecycle(q *request) error {
	var document lifecycleConfiguration
	if err := q.readXML(&document); err != nil {
		return err
	}
	return s.changeBucket(q, func(b *bucket) { b.Lifecycle = document.Rules })
}

func (s *Store) getLifecycle(q *request) error {
	if len(q.rules.Lifecycle) == 0 {
		return errNoLifecycle
	}
	return q.sendXML("LifecycleConfiguration", lifecycleConfiguration{Rules: q.rules.Lifecycle})
}

func (s *Store) deleteLifecycle(q *request) error {
	return s.changeBucket(q, func(b *bucket) { b.Lifecycle = nil })
}

// due reports whether the time has come to remove an object. This is the first midnight UTC at which it is at
// least days old.
func due(created, now time.Time, days int) bool {
	const day = 24 * time.Hour
	return !now.Before(created.Add(time.Duration(days+1)*day - 1).Truncate(day))
}

// expire removes the objects that are due according to the buckets' rules.
func (s *Store) expire() error {
	s.requests.RLock()
	defer s.requests.RUnlock()
	if s.closed {
		return nil
	}
	var problems []error
	err := scan(s, indexKey(datafolder.SpaceBucket), "", func(name string, b bucket) (string, error) {
		for _, rule := range b.Lifecycle {
			if rule.Status == enabled {
				problems = append(problems, s.expireObjects(name, rule))
			}
		}
		return "", nil
	})
	return errors.Join(append(problems, err)...)
}

func (s *Store) expireObjects(bucket string, rule lifecycleRule) error {
	isDue := func(o object) bool { return due(o.Modified, s.options.Now(), rule.Expiration.Days) }
	var keys []string
	err := scan(s, objectKey(bucket, rule.Filter.Prefix), "", func(rest string, o object) (string, error) {
		if isDue(o) {
			keys = append(keys, rule.Filter.Prefix+rest)
		}
		return "", nil
	})
	for keys := range slices.Chunk(keys, maxDelete) {
		err = errors.Join(err, s.delete(bucket, keys, func(o object) (bool, error) { return isDue(o), nil }))
	}
	if len(keys) > 0 {
		s.options.Logger.Info("s3: removed expired objects", slog.String("bucket", bucket), slog.Int("objects", len(keys)))
	}
	return err
}
