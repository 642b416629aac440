

def learning_rate(step, steps_per_epoch):
    """The learning rate of an update, counted from 0: it changes at every update, not at every epoch.
    After the last epoch of the schedule, the rate stays constant."""
    warm_up = math.floor(WARMUP_EPOCHS * steps_per_epoch)
    total = max((SCHEDULE_EPOCHS or EPOCHS) * steps_per_epoch, 1)
    step = min(step, total - 1)
    if step < warm_up:
        return LR * (step + 1) / (warm_up + 1)
    if SCHEDULE == 'cosine':
        return LR * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(total - warm_up, 1)))
    if SCHEDULE == 'step':
        return LR * 0.1 ** math.floor(3 * step / total)
    return LR
