package platform

import (
	"context"
	"errors"
	"net/http"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/schedule"
	"devplatform/infra/local/triggers"
)

// openTriggers opens the event source mappings. The method start starts them.
func (p *Platform) openTriggers(context.Context) (err error) {
	if len(p.Stack.EventSourceMappings) == 0 {
		return nil
	}
	var streamChanged func(arn string) <-chan struct{}
	var transport http.RoundTripper
	if p.database != nil {
		streamChanged = p.database.StreamChanged
		transport = inProcess{http.HandlerFunc(p.services.service)}
	}
	p.triggers, err = triggers.Open(triggers.Options{
		Mappings:      p.Stack.EventSourceMappings,
		Invoke:        p.runtime.Invoke,
		Waits:         p.runtime.Waits,
		Endpoint:      p.endpoint(),
		Transport:     transport,
		Region:        p.config.Region,
		Account:       Account,
		AccessKeyID:   p.config.AccessKeyID,
		SecretKey:     p.config.SecretKey,
		SessionToken:  p.config.SessionToken,
		Positions:     positions{p.data, p.config.EndpointURL},
		Now:           now,
		Logger:        p.logger,
		StreamChanged: streamChanged,
	})
	return err
}

// positions stores the positions of mappings in the data folder. Another endpoint has other streams, and so other
// positions.
type positions struct {
	folder   *datafolder.Folder
	endpoint string
}

func (p positions) key(mapping string) []byte {
	return append([]byte{datafolder.SpacePosition}, p.endpoint+"\x00"+mapping...)
}

// Load implements triggers.Positions.
func (p positions) Load(mapping string) ([]byte, error) {
	return datafolder.Read(p.folder.DB, p.key(mapping))
}

// Save implements triggers.Positions.
func (p positions) Save(mapping string, position []byte) error {
	leave, err := p.folder.Enter()
	if err != nil {
		return err
	}
	defer leave()
	batch := p.folder.DB.NewBatch()
	return errors.Join(batch.Set(p.key(mapping), position, nil), p.folder.CommitLater(batch))
}

// openSchedules opens the schedules. The method start starts them.
func (p *Platform) openSchedules(context.Context) error {
	if len(p.Stack.Schedules) == 0 {
		return nil
	}
	p.schedules = schedule.Open(schedule.Options{
		Schedules: p.Stack.Schedules,
		Invoke:    p.runtime.Invoke,
		Region:    p.config.Region,
		Account:   Account,
		Now:       now,
		Logger:    p.logger,
	})
	return nil
}
