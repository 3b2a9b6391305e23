"""Harbor: the agent, its trajectory and the container of `integrations/harbor`, without Harbor."""
