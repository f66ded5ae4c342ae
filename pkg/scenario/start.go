package scenario

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/vicinity-scheduler/vicinity/pkg/localstack"
	"github.com/vicinity-scheduler/vicinity/pkg/scenario/format"
)

func (s *session) start(ctx context.Context, a *format.Start) error {
	if a.Process == localstack.Controller {
		args := make([]string, 0, len(a.Args))
		for _, arg := range a.Args {
			if strings.Contains(arg, format.GoldpingerURL) && s.goldpinger == nil {
				return fmt.Errorf("%s needs a step goldpinger before this one", format.GoldpingerURL)
			}
			if s.goldpinger != nil {
				arg = strings.ReplaceAll(arg, format.GoldpingerURL, s.goldpinger.url)
			}
			args = append(args, arg)
		}
		return s.stack.StartController(ctx, args...)
	}
	if a.Config == nil {
		return s.stack.StartComponent(ctx, a.Process, a.Node)
	}
	config, err := yaml.Marshal(a.Config)
	if err != nil {
		return fmt.Errorf("writing the agent's configuration: %w", err)
	}
	return s.stack.StartAgent(ctx, a.Node, strings.ReplaceAll(string(config), format.Folder, s.dir))
}
