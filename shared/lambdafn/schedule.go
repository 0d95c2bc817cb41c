package lambdafn

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/go-json-experiment/json"

	"devplatform/shared/async"
)

// Schedule returns a handler that calls run for each event of a schedule. It ignores the contents of the event.
func Schedule(logger *slog.Logger, run func(ctx context.Context) error) *ScheduleHandler {
	return &ScheduleHandler{logger: logger, run: run, tasks: map[string]func(context.Context) error{}}
}

// ScheduleHandler implements aws-lambda-go's Handler.
type ScheduleHandler struct {
	logger *slog.Logger
	run    func(context.Context) error
	tasks  map[string]func(context.Context) error // by the name in the Input of their schedules
}

// Invoke calls run once, or the function of a task. It returns an error if this function fails or panics, or if the
// task is unknown.
func (h *ScheduleHandler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	ctx, end := WithMargin(ctx)
	defer end()
	var event struct {
		Task string `json:"task"`
	}
	run, message, attrs := h.run, "scheduled run", requestID(ctx)
	if len(h.tasks) > 0 && json.Unmarshal(payload, &event) == nil && event.Task != "" {
		message, attrs = "scheduled task", append(attrs, slog.String("task", event.Task))
		if run = h.tasks[event.Task]; run == nil {
			return nil, fmt.Errorf("lambdafn: unknown task %q", event.Task)
		}
	}
	if err := async.Recover(func() error { return run(ctx) }); err != nil {
		h.logger.LogAttrs(ctx, slog.LevelError, message, append(attrs, slog.String("cause", err.Error()))...)
		return nil, fmt.Errorf("lambdafn: %s: %w", message, err)
	}
	h.logger.LogAttrs(ctx, slog.LevelInfo, message, attrs...)
	return []byte("null"), nil
}
