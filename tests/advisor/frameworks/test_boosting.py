from advisor.frameworks.interpreted import said


def test_rounds_of_boosting_are_steps(tmp_path):
    code = """
        import xgboost as xgb
        params = {"objective": "binary:logistic", "eta": 0.1, "device": "cuda"}
        booster = xgb.train(params, dtrain, num_boost_round=500, early_stopping_rounds=20)
    """
    assert said(tmp_path, code) == {
        "framework": "xgboost",
        "task": "tabular",
        "model": "xgboost",
        "max_steps": 500,
        "learning_rate": 0.1,
        "early_stopping": True,
    }


def test_rounds_by_place_and_patience_by_callback(tmp_path):
    code = """
        import lightgbm as lgb
        lgb.train({"learning_rate": 0.05}, data, 300, callbacks=[lgb.early_stopping(10)])
    """
    found = said(tmp_path, code)
    assert (found["framework"], found["max_steps"]) == ("lightgbm", 300)
    assert (found["learning_rate"], found["early_stopping"]) == (0.05, True)


def test_rounds_among_the_parameters(tmp_path):
    code = """
        import lightgbm as lgb
        lgb.train({"num_iterations": 70, "early_stopping_round": 0}, data)
    """
    found = said(tmp_path, code)
    assert found["max_steps"] == 70
    assert "early_stopping" not in found


def test_estimators(tmp_path):
    code = """
        from xgboost import XGBClassifier
        model = XGBClassifier(n_estimators=200, learning_rate=0.3, tree_method="gpu_hist")
        model.fit(x, y)
    """
    found = said(tmp_path, code)
    assert (found["model"], found["max_steps"]) == ("XGBClassifier", 200)
    code = """
        from catboost import CatBoostRegressor
        CatBoostRegressor(iterations=1000, task_type="GPU").fit(x, y)
    """
    found = said(tmp_path, code)
    assert (found["framework"], found["max_steps"]) == ("catboost", 1000)
    assert "learning_rate" not in found


def test_a_network_of_scikit_learn(tmp_path):
    code = """
        from sklearn.neural_network import MLPClassifier
        clf = MLPClassifier(solver="adam", max_iter=50, batch_size=64, learning_rate_init=0.01)
        clf.fit(x, y)
    """
    found = said(tmp_path, code)
    assert (found["framework"], found["epochs"]) == ("sklearn", 50)
    assert (found["optimizer"], found["batch_size"]) == ("adam", 64)
