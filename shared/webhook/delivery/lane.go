package delivery

// lane is the part of the pipeline that attempts the deliveries to an endpoint.
type lane int

const (
	fastLane lane = iota // attempts are aborted after PromptTime
	slowLane             // attempts are made in the turns of the endpoint
)

// lane returns the lane of the endpoint. A new endpoint is in the slow lane until its first prompt success.
func (h Health) lane() lane {
	if h.Prompt && h.Failures < slowFailures {
		return fastLane
	}
	return slowLane
}
